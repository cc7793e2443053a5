// SPDX-License-Identifier: Apache-2.0
// Interface of the arms that take places of many counters.
#pragma once

#include <warden/buffer.hpp>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <memory>
#include <string>

namespace allocation {

/// Arguments of an arm. Item i takes `count(i)` places of counter `ids[i]`, and stores the first.
struct takes {
  std::uint32_t const* ids;
  std::uint32_t n;
  std::uint64_t* counters;
  std::uint32_t* places;

  WARDEN_HOST_DEVICE static std::uint32_t count(std::uint64_t i) {
    return 1 + (static_cast<std::uint32_t>(i) * 0x9e3779b1u >> 29);
  }
  static constexpr std::uint32_t most = 8;  ///< largest number of places of an item
};

class take_arm {
 public:
  virtual ~take_arm() = default;
  /// Enqueues all work. Precondition: the counters are 0.
  virtual void run_async(takes const& t) = 0;
  /// Waits until the work is done. Throws its error, if any.
  virtual void wait() {}
};

/// Makes the arm whose sections return places. In a translation unit of its own, because its kernel
/// takes long to compile.
std::unique_ptr<take_arm> make_called_taking(warden::buffer<std::uint64_t> const& counters);

}  // namespace allocation
