// SPDX-License-Identifier: Apache-2.0
// Something for each 64 bytes of memory that have it, found by the address.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

inline constexpr std::size_t line_bytes = 64;

/// A `Line` for each 64 bytes that were asked for. Each access of a launch looks here: a line stays
/// where it is, and lookup is one probe of an open hash table most of the time.
template <class Line>
class line_table {
 public:
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// Returns the line that `address` lies in, or null if there is none yet.
  [[nodiscard]] Line* find(std::uintptr_t address) {
    return slots_[place_of(address / line_bytes)].line;
  }
  /// Returns the line that `address` lies in, which is there from now on.
  Line& at(std::uintptr_t address) {
    if (Line* const found = find(address)) return *found;
    if (2 * lines_.size() >= slots_.size()) grow();
    lines_.emplace_back();
    slots_[place_of(address / line_bytes)] = {address / line_bytes, &lines_.back()};
    return lines_.back();
  }

 private:
  struct slot {
    std::uintptr_t number = 0;  ///< address / line_bytes
    Line* line = nullptr;       ///< null: free
  };

  /// The place of the line, or the free one where it belongs.
  [[nodiscard]] std::size_t place_of(std::uintptr_t number) const {
    std::size_t place = number * 0x9e3779b97f4a7c15ull >> 32;
    for (;; ++place) {
      slot const& s = slots_[place &= slots_.size() - 1];
      if (s.line == nullptr || s.number == number) return place;
    }
  }
  void grow() {
    std::vector<slot> old(2 * slots_.size());
    old.swap(slots_);
    for (slot const& s : old) {
      if (s.line != nullptr) slots_[place_of(s.number)] = s;
    }
  }

  std::vector<slot> slots_ = std::vector<slot>(256);  ///< at most half of them taken
  std::deque<Line> lines_;
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
