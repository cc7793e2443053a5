// SPDX-License-Identifier: Apache-2.0
/// @file
/// Global relabelling: a breadth-first search against the residual arcs gives every vertex its
/// distance from the terminal that excess goes to. And the gap heuristic: where a level is empty,
/// all above it are cut off.
#pragma once

#include "apps/max_flow/state.cuh"
#include "apps/support/device.cuh"

#include <cstdint>

namespace max_flow {

/// A search, for its kernels. Its frontiers are kept as rounds keep their active vertices.
struct search {
  max_flow::network network;
  flow_state state;
  std::uint32_t target;  ///< the terminal that excess goes to
  std::uint32_t level;   ///< modulo 6: which of the lists is the frontier
};

/// Nobody has been reached but the target.
WARDEN_KERNEL void begin_search(search a) {
  control& c = *a.state.control;
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) {
    a.state.lists[0][0] = a.target;
    c.active[0] = 1;
    c.active[1] = c.active[2] = 0;
    c.empty[0] = c.empty[1] = no_level;
  }
  apps::for_my_share(a.network.vertices, [&](std::uint64_t v) {
    a.state.heights[0][v] = v == a.target ? 0 : a.network.vertices;
    a.state.levels[v] = 0;
  });
}

/// What arc `back` of a frontier vertex of height `height` leads to is reached, if there is
/// residual capacity from there.
WARDEN_DEVICE void reach(search const& a, std::uint64_t back, std::uint32_t height) {
  std::uint32_t const v = a.network.neighbours[back];
  std::uint32_t* const to = &a.state.heights[0][v];
  std::uint32_t const unreached = a.network.vertices;
  if (simt::load_relaxed(to) != unreached) return;
  if (a.state.residual[a.network.reverse[back]] == 0) return;
  // No way leads through the other terminal, where excess stays.
  if (a.network.is_terminal(v)) return;
  if (simt::compare_exchange(to, unreached, height + 1) == unreached) put(a.state, a.level + 1, v);
}

/// A level. Each vertex of the frontier is a thread's, long rows are a warp's; that of the target,
/// which may lead to all vertices, is the whole grid's. Any one-dimensional grid of whole warps.
WARDEN_KERNEL void search_level(search a) {
  control& c = *a.state.control;
  std::uint64_t const n = c.active[a.level % 3];
  bool const is_first = simt::block_rank() == 0 && simt::thread_rank() == 0;
  if (is_first) c.active[(a.level + 2) % 3] = 0;
  if (n == 0) return;
  std::uint32_t const* const frontier = a.state.list_in(a.level);
  std::uint32_t const height = a.state.heights[0][frontier[0]];
  if (is_first) a.state.levels[height] = static_cast<std::uint32_t>(n);
  auto const& offsets = a.network.offsets;
  if (height == 0) {
    std::uint64_t const begin = offsets[a.target];
    return apps::for_my_share(offsets[a.target + std::uint64_t{1}] - begin,
                              [&](std::uint64_t i) { reach(a, begin + i, 0); });
  }
  constexpr std::uint64_t most_of_a_thread = 32;
  std::uint64_t const step = std::uint64_t{simt::block_count()} * simt::block_threads();
  std::uint64_t const lane_0 = std::uint64_t{simt::block_rank()} * simt::block_threads() +
                               simt::thread_rank() - simt::lane_id();
  // Rounds of whole warps: every lane comes to the collectives.
  for (std::uint64_t first = lane_0; first < n; first += step) {
    bool const is = first + simt::lane_id() < n;
    std::uint32_t const v = is ? frontier[first + simt::lane_id()] : 0;
    std::uint64_t const begin = is ? offsets[v] : 0;
    std::uint64_t const end = is ? offsets[v + std::uint64_t{1}] : 0;
    bool const is_long = end - begin > most_of_a_thread;
    if (!is_long) {
      for (std::uint64_t arc = begin; arc < end; ++arc) reach(a, arc, height);
    }
    unsigned left = simt::ballot(simt::full_warp, is_long);
    while (left != 0) {
      auto const lane = static_cast<unsigned>(simt::first_bit(left));
      left &= left - 1;
      std::uint64_t const row_end = simt::shuffle(simt::full_warp, end, lane);
      for (std::uint64_t arc = simt::shuffle(simt::full_warp, begin, lane) + simt::lane_id();
           arc < row_end; arc += simt::warp_size)
        reach(a, arc, height);
    }
  }
}

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
