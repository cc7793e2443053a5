// SPDX-License-Identifier: Apache-2.0
/// @file
/// Temporary memory of device-wide algorithms.
#pragma once

#include <warden/buffer.hpp>

#include <cstddef>

namespace apps {

/// Temporary device memory for one algorithm at a time. It grows when one needs more, for which the
/// host waits.
class scratch {
 public:
  /// Memory of at least `bytes` bytes. Throws cuda_error.
  void* of(std::size_t bytes) {
    if (memory_.size() < bytes) memory_ = warden::buffer<std::byte>{bytes};
    return memory_.data();
  }
  /// Bytes that it has.
  [[nodiscard]] std::size_t bytes() const { return memory_.size(); }

 private:
  warden::buffer<std::byte> memory_;
};

}  // namespace apps
