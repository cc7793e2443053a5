// SPDX-License-Identifier: Apache-2.0
/// @file
/// Distances of a search in device memory, of either type.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace shortest_paths {

/// Distance of an unreached vertex, of 64 bits.
inline constexpr std::uint64_t no_distance = ~std::uint64_t{0};

/// View of distances of 32 or 64 bits. One of the pointers is null.
struct distance_view {
  std::uint32_t const* narrow;
  std::uint64_t const* wide;

  [[nodiscard]] WARDEN_DEVICE std::uint64_t operator[](std::uint64_t v) const {
    if (wide != nullptr) return wide[v];
    std::uint32_t const d = narrow[v];
    return d == 0xffffffff ? no_distance : d;
  }
};

}  // namespace shortest_paths
