// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gap heuristic: if a level is empty, all vertices above it are cut off.
#pragma once

#include "apps/max_flow/state.cuh"
#include "apps/support/device.cuh"

#include <cstdint>

namespace max_flow {

/// Cuts off the vertices above a gap, by the whole grid, before iteration `a`. If a level became
/// empty in the last interval and still is, no vertex above it can reach the terminal, and the
/// heights of these vertices become the number of vertices. `least` is the lowest level that became
/// empty.
WARDEN_DEVICE void cut_off_above(iteration const& a, std::uint32_t least) {
  // Skip levels that were empty only temporarily. No thread changes a level below a gap here.
  constexpr std::uint32_t most_looks = 64;
  std::uint32_t const vertices = a.network.vertices;
  std::uint32_t const end = vertices - least < most_looks ? vertices : least + most_looks;
  std::uint32_t gap = least;
  while (gap < end && simt::load_relaxed(&a.state.levels[gap]) != 0) ++gap;
  if (gap == end) return;
  apps::for_my_share(vertices, [&](std::uint64_t v) {
    std::uint32_t const height = simt::load_relaxed(&a.heights()[v]);
    if (height <= gap || height >= vertices) return;
    simt::add(&a.state.levels[height], ~std::uint32_t{0});
    a.state.heights[0][v] = a.state.heights[1][v] = vertices;
  });
}

}  // namespace max_flow
