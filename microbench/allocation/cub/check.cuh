// SPDX-License-Identifier: Apache-2.0
// Turns errors of CUB into exceptions.
#pragma once

#include <warden/error.hpp>

#include <source_location>
#include <string>

namespace allocation {

/// Throws cuda_error.
inline void check(char const* what, cudaError_t code) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that the next call does not report it again
  throw warden::cuda_error{static_cast<int>(code),
                           std::string{what} + ": " + cudaGetErrorString(code),
                           std::source_location::current()};
}

}  // namespace allocation
