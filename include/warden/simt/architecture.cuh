// SPDX-License-Identifier: Apache-2.0
/// @file
/// Facts about a kernel's device that follow from the architecture that it is compiled for.
#pragma once

#include <warden/simt/annotations.cuh>

#include <cstddef>

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// Returns the virtual architecture that this device code is compiled for: 90 for `compute_90`. 0
/// in host code, and on the simulated device, which may have the limits of any.
#if defined(__CUDA_ARCH__)
inline constexpr int compiled_architecture = __CUDA_ARCH__ / 10;
#else
inline constexpr int compiled_architecture = 0;
#endif

/// Returns true if a device that runs code of `architecture` may have blocks of 99 KB of shared
/// memory or less: 7.5, 8.6, 8.9, 12.0 and their like, and the simulated device. 8.0 and 8.7 have
/// 163 KB, and 9.0, 10.0 and 11.0 have 227 KB. By the table of compute capabilities in the CUDA
/// programming guide.
WARDEN_HOST_DEVICE constexpr bool may_have_small_blocks(int architecture) {
  int const major = architecture / 10;
  if (major == 8) return architecture != 80 && architecture != 87;
  return major < 9 || major > 11;
}

/// Least shared memory that every device which runs this program offers to a block, by the
/// architectures that it is compiled for. Units: bytes.
inline constexpr std::size_t least_block_bytes = [] {
#if defined(__CUDA_ARCH_LIST__)
  for (int const architecture : {__CUDA_ARCH_LIST__})
    if (architecture < 800) return std::size_t{64} << 10;
  return std::size_t{99} << 10;
#else
  return std::size_t{64} << 10;
#endif
}();

}  // namespace simt
WARDEN_NAMESPACE_END
