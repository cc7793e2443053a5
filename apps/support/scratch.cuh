// SPDX-License-Identifier: Apache-2.0
/// @file
/// Temporary memory of device-wide algorithms.
#pragma once

#include <warden/buffer.hpp>

#include <cstddef>

namespace apps {

/// Temporary device memory for one algorithm at a time. Grows if an algorithm needs more, which
/// blocks the host.
class scratch {
 public:
  /// Returns memory of at least `bytes` bytes. Throws cuda_error.
  void* of(std::size_t bytes) {
    if (memory_.size() < bytes) memory_ = warden::buffer<std::byte>{bytes};
    return memory_.data();
  }
  /// Returns the bytes allocated.
  [[nodiscard]] std::size_t bytes() const { return memory_.size(); }

 private:
  warden::buffer<std::byte> memory_;
};

}  // namespace apps
