// SPDX-License-Identifier: Apache-2.0
/// @file
/// A breadth-first search against the residual arcs, level by level: the distance of every vertex
/// from the terminal that excess goes to.
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
    c.levels = 0;
    c.empty[0] = c.empty[1] = no_level;
  }
  apps::for_my_share(a.network.vertices, [&](std::uint64_t v) {
    a.state.heights[0][v] = v == a.target ? 0 : a.network.vertices;
    a.state.levels[v] = 0;
  });
}

/// The arcs of a vertex.
struct row {
  std::uint64_t begin, end;
};
WARDEN_DEVICE row row_of(network const& net, std::uint32_t v) {
  return {net.offsets[v], net.offsets[v + std::uint64_t{1}]};
}

/// The `n` rows `at(i)` of a frontier, by `warps` warps, of which this is number `warp`:
/// `row_lanes` lanes take the arcs of one in turn, a long one's are a warp's. Calls `to(arc)`.
template <class At, class To>
WARDEN_DEVICE void for_rows(std::uint64_t n, std::uint64_t warp, std::uint64_t warps, At at,
                            To to) {
  constexpr unsigned rows = simt::warp_size / row_lanes;
  constexpr std::uint64_t most_of_few_lanes = 8 * row_lanes;
  // Rounds of whole warps: every lane comes to the collectives.
  for (std::uint64_t first = warp * rows; first < n; first += warps * rows) {
    std::uint64_t const i = first + simt::lane_id() / row_lanes;
    row const mine = i < n ? at(i) : row{0, 0};
    unsigned const lane = simt::lane_id() % row_lanes;
    bool const is_long = mine.end - mine.begin > most_of_few_lanes;
    if (!is_long) {
      for (std::uint64_t arc = mine.begin + lane; arc < mine.end; arc += row_lanes) to(arc);
    }
    unsigned left = simt::ballot(simt::full_warp, is_long && lane == 0);
    while (left != 0) {
      auto const of = static_cast<unsigned>(simt::first_bit(left));
      left &= left - 1;
      std::uint64_t const begin = simt::shuffle(simt::full_warp, mine.begin, of);
      std::uint64_t const end = simt::shuffle(simt::full_warp, mine.end, of);
      for (std::uint64_t arc = begin + simt::lane_id(); arc < end; arc += simt::warp_size) to(arc);
    }
  }
}

/// A level. What an arc of the frontier leads to is reached if there is residual capacity from
/// there. The row of the target, which may lead to all vertices, is the whole grid's. Any
/// one-dimensional grid of whole warps.
WARDEN_KERNEL void search_level(search a) {
  network const& net = a.network;
  control& c = *a.state.control;
  std::uint64_t const n = c.active[a.level % 3];
  bool const is_first = simt::block_rank() == 0 && simt::thread_rank() == 0;
  if (is_first) c.active[(a.level + 2) % 3] = 0;
  if (n == 0) return;
  std::uint32_t const* const frontier = a.state.list_in(a.level);
  std::uint32_t const height = a.state.heights[0][frontier[0]];
  if (is_first) {
    a.state.levels[height] = static_cast<std::uint32_t>(n);
    c.levels = height + 1;
  }
  auto const reach = [&](std::uint64_t back) {
    std::uint32_t const v = net.neighbours[back];
    std::uint32_t* const to = &a.state.heights[0][v];
    if (simt::load_relaxed(to) != net.vertices) return;
    if (a.state.residual[net.reverse[back]] == 0) return;
    // No way leads through the other terminal, where excess stays.
    if (net.is_terminal(v)) return;
    if (simt::compare_exchange(to, net.vertices, height + 1) == net.vertices)
      put(a.state, a.level + 1, v);
  };
  if (height == 0) {
    row const all = row_of(net, a.target);
    return apps::for_my_share(all.end - all.begin, [&](std::uint64_t i) { reach(all.begin + i); });
  }
  std::uint64_t const warps = simt::block_threads() / simt::warp_size;
  for_rows(
      n, simt::block_rank() * warps + simt::warp_rank(), simt::block_count() * warps,
      [&](std::uint64_t i) { return row_of(net, frontier[i]); }, reach);
}

}  // namespace max_flow
