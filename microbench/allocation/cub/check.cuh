// SPDX-License-Identifier: Apache-2.0
// Errors of CUB's algorithms.
#pragma once

#include <warden/error.hpp>

#include <source_location>
#include <string>

namespace allocation {

/// Throws cuda_error.
inline void check(char const* what, cudaError_t code) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // not sticky: the next call must not report it again
  throw warden::cuda_error{static_cast<int>(code),
                           std::string{what} + ": " + cudaGetErrorString(code),
                           std::source_location::current()};
}

}  // namespace allocation
