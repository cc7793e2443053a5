// SPDX-License-Identifier: Apache-2.0
// Error codes of the CUDA runtime as exceptions.
#pragma once

#include <warden/error.hpp>

#include <cuda_runtime_api.h>

#include <source_location>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN

/// Throws cuda_error unless the call was a success.
inline void check(cudaError_t code, std::string const& what,
                  std::source_location where = std::source_location::current()) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // not sticky: the next call must not report it again
  throw cuda_error{static_cast<int>(code), what + ": " + cudaGetErrorString(code), where};
}

WARDEN_HOST_NAMESPACE_END
