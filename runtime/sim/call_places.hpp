// SPDX-License-Identifier: Apache-2.0
// Places in the code with the calls that led there, each as one number.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// A place in the code with the calls that led there; 0: none.
using place_id = std::uint32_t;

/// All places that the program has come to.
class call_places {
 public:
  /// Returns the place right before `return_address`, reached by the call at `from`.
  place_id within(place_id from, void const* return_address) {
    auto const address = reinterpret_cast<std::uintptr_t>(return_address);
    recent& r = recent_[(address ^ address >> 12 ^ from * 0x9e3779b1u) % recent_.size()];
    if (r.place.from != from || r.place.return_address != address)
      r = {{from, address}, insert({from, address})};
    return r.id;
  }
  /// Returns the place of the call that the function of `place` was called by.
  [[nodiscard]] place_id caller(place_id place) const { return places_[place].from; }
  /// Returns a line for each call: see to_string of frames.
  [[nodiscard]] std::string text(place_id place) const;
  /// Returns "file:line" of the innermost place in the user's code, or its function's name.
  [[nodiscard]] std::string line(place_id place) const;

 private:
  struct place {
    place_id from = 0;
    std::uintptr_t return_address = 0;
    bool operator==(place const&) const = default;
  };
  struct hash {
    std::size_t operator()(place const& p) const {
      return (p.return_address ^ std::uint64_t{p.from} << 40) * 0x9e3779b97f4a7c15ull >> 8;
    }
  };
  struct recent {
    call_places::place place{};
    place_id id = 0;
  };
  place_id insert(place const& p);
  [[nodiscard]] std::vector<void const*> addresses(place_id place) const;

  std::vector<place> places_ = std::vector<place>(1);
  std::unordered_map<place, place_id, hash> numbers_;
  std::array<recent, 1024> recent_{};
};

/// The program's. Only under `lock_device`.
call_places& places();

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
