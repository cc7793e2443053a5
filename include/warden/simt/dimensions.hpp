// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many blocks a grid has, or how many threads a block, in up to three dimensions.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>

WARDEN_HOST_NAMESPACE_BEGIN

/// Numbers of threads or blocks in three dimensions: CUDA's `dim3`, from which it is made where
/// there is one.
struct dimensions {
  unsigned x = 1;  ///< neighbouring numbers differ in x
  unsigned y = 1;  ///< then in y
  unsigned z = 1;  ///< then in z

  /// One number is a grid or block of one dimension.
  constexpr dimensions(unsigned along_x = 1, unsigned along_y = 1, unsigned along_z = 1)
      : x{along_x}, y{along_y}, z{along_z} {}
  /// A `dim3`.
  template <class Dim3>
  requires requires(Dim3 const& d) {
    d.x;
    d.y;
    d.z;
  }
  constexpr dimensions(Dim3 const& d) : x{d.x}, y{d.y}, z{d.z} {}

  /// All of them, 0 if one of the three is.
  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

WARDEN_HOST_NAMESPACE_END
