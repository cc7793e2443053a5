// SPDX-License-Identifier: Apache-2.0
/// @file
/// Global relabelling, whose distances search.cuh finds: what comes after the search. And the gap
/// heuristic: where a level is empty, all above it are cut off.
#pragma once

#include "apps/max_flow/narrow_search.cuh"

#include <cstdint>

namespace max_flow {

/// After the last level, whose list and number are empty: both heights are the same, and whoever
/// has excess and can get rid of it is active in round 0.
WARDEN_KERNEL void end_search(search a) {
  apps::for_my_share(a.network.vertices, [&](std::uint64_t i) {
    auto const v = static_cast<std::uint32_t>(i);
    std::uint32_t const height = a.state.heights[0][v];
    a.state.heights[1][v] = height;
    if (height < a.network.vertices && !a.network.is_terminal(v) && a.state.vertices[v].excess != 0)
      activate(a.state, 0, v);
  });
}

/// Between two rounds, of which `a` is the next one: if a level became empty in the interval before
/// and still is, nobody above it can reach the terminal. Theirs are no heights any more.
WARDEN_KERNEL void close_gap(round a) {
  control& c = *a.state.control;
  std::uint32_t const least = c.empty[1 - a.interval];
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) c.empty[a.interval] = no_level;
  if (least == no_level) return;
  // Some became empty for a moment only. Nobody changes a level below a gap here.
  constexpr std::uint32_t most_looks = 64;
  std::uint32_t const vertices = a.network.vertices;
  std::uint32_t const end = vertices - least < most_looks ? vertices : least + most_looks;
  std::uint32_t gap = least;
  while (gap < end && simt::load_relaxed(&a.state.levels[gap]) != 0) ++gap;
  if (gap == end) return;
  apps::for_my_share(vertices, [&](std::uint64_t v) {
    std::uint32_t const height = a.heights()[v];
    if (height <= gap || height >= vertices) return;
    simt::fetch_add(&a.state.levels[height], ~std::uint32_t{0});
    a.state.heights[0][v] = a.state.heights[1][v] = vertices;
  });
}

}  // namespace max_flow
