// SPDX-License-Identifier: Apache-2.0
/// @file
/// Number of blocks of a grid, or of threads of a block, in up to three dimensions.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>

WARDEN_HOST_NAMESPACE_BEGIN

/// Numbers of threads or blocks in three dimensions, as CUDA's `dim3`, which converts to it.
struct dimensions {
  unsigned x = 1;  ///< adjacent numbers differ in x
  unsigned y = 1;  ///< then in y
  unsigned z = 1;  ///< then in z

  /// Makes a grid or block of one dimension.
  constexpr dimensions(unsigned along_x = 1, unsigned along_y = 1, unsigned along_z = 1)
      : x{along_x}, y{along_y}, z{along_z} {}
  /// Converts a `dim3`.
  template <class Dim3>
  requires requires(Dim3 const& d) {
    d.x;
    d.y;
    d.z;
  }
  constexpr dimensions(Dim3 const& d) : x{d.x}, y{d.y}, z{d.z} {}

  /// Returns the product of all three.
  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

WARDEN_HOST_NAMESPACE_END
