// SPDX-License-Identifier: Apache-2.0
/// @file
/// Global relabelling: sets heights to distances from the terminal that excess goes to.
#pragma once

#include "apps/max_flow/gap.cuh"
#include "apps/max_flow/narrow_search.cuh"
#include "apps/support/grid_barrier.cuh"

#include <warden/cuda_names.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace max_flow {

/// Begins a search: only the target is reached, and no vertex is active. Moves the heights of the
/// last iteration to the other array.
WARDEN_DEVICE void begin_search(search const& a) {
  control& c = *a.state.control;
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) {
    a.state.frontiers[0][0] = packed_row(a.state.vertices[a.target].arcs);
    c.reached[0] = 1;
    c.reached[1] = c.reached[2] = 0;
    c.active[0] = c.active[1] = c.active[2] = 0;
    c.step_level[0] = 0;
    c.empty[0] = c.empty[1] = no_level;
  }
  unsigned wanted = 0;
  apps::for_my_share(a.network.vertices, [&](std::uint64_t i) {
    auto const v = static_cast<std::uint32_t>(i);
    std::uint32_t const before = a.is_first ? 0 : a.state.heights[0][v];
    bool const may_leave = before < a.network.vertices && !a.network.is_terminal(v);
    wanted += may_leave && a.has_excess(v) ? 1 : 0;
    a.state.heights[1][v] = before;
    a.state.heights[0][v] = v == a.target ? 0 : a.network.vertices;
    a.state.levels[v] = 0;
  });
  wanted = simt::warp_sum(wanted);
  if (simt::lane_id() == 0 && wanted != 0) simt::fetch_add(&c.search.wanted, std::uint64_t{wanted});
}
/// Ends a search: makes both heights equal, and makes every vertex active whose excess can leave
/// it. `is_early`: the search ended early, so vertices that it did not reach may reach the target
/// too.
WARDEN_DEVICE void end_search(search const& a, bool is_early, std::uint32_t last_level) {
  std::uint32_t const vertices = a.network.vertices;
  std::uint32_t const farther = last_level + 1;  // mutation: flow-farther
  std::uint64_t active = 0;                      // vertices that the lane has counted
  // Whole warps iterate together, because a warp writes one word of bits.
  std::uint64_t const all = std::uint64_t{vertices / 32 + (vertices % 32 != 0 ? 1 : 0)} * 32;
  static_assert(simt::warp_size == 32);
  apps::for_my_share(all, [&](std::uint64_t i) {
    auto const v = static_cast<std::uint32_t>(i);
    bool is_active = false;
    if (i < vertices) {
      std::uint32_t height = a.state.heights[0][v];
      if (is_early && height == vertices && !a.network.is_terminal(v)) {
        std::uint32_t const before = a.state.heights[1][v];
        height = before < farther ? farther : before;
        a.state.heights[0][v] = height;
        if (height < vertices) simt::add_together(&a.state.levels[height], 1);
      }
      a.state.heights[1][v] = height;
      is_active = height < vertices && !a.network.is_terminal(v) && a.has_excess(v);
    }
    if (a.state.bits == nullptr) {
      if (is_active) put(a.state, 0, v);
      return;
    }
    unsigned const bits = simt::ballot(simt::full_warp, is_active);
    if (simt::lane_id() != 0) return;
    a.state.bits[i / 32] = bits;
    active += static_cast<unsigned>(simt::count_bits(bits));
  });
  if (active != 0) simt::add(&a.state.control->active[0], active);
}

/// Bytes of dynamic shared memory of a block.
inline constexpr std::size_t search_bytes =
    std::max(sizeof(narrow_frontiers), sizeof(reached_here));
/// Global relabelling by one cooperative launch. All blocks expand wide levels, with barriers of
/// the grid between them; the first cluster expands narrow levels. Preconditions: search_control is
/// 0, and a block has `search_bytes` of dynamic shared memory for its narrow_frontiers or its
/// reached_here.
WARDEN_KERNEL void WARDEN_BOUNDS(one_block_threads, 1) relabel(search a) {
  simt::assume_one_dimension();
  auto& frontiers = *reinterpret_cast<narrow_frontiers*>(simt::dynamic_shared());
  WARDEN_SHARED(search_step, now);
  control& c = *a.state.control;
  apps::grid_barrier barrier{&c.search.barrier};
  // The host reads a failed barrier.
  begin_search(a);
  if (!barrier.wait([] {}, [&] { now.begin(a); })) return;
  while (!now.is_last()) {
    if (now.level == 0 || now.n > narrow_frontiers::most()) {
      search_wide_level(a, now, *reinterpret_cast<reached_here*>(simt::dynamic_shared()));
    } else if (simt::block_rank() < simt::cluster_size()) {
      search_narrow_levels(a, frontiers, now);
    }
    if (!barrier.wait([] {}, [&] { now.next(a); })) return;
  }
  bool const is_early = now.n != 0;
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) {
    // The last level is empty, or its arcs were not followed.
    c.levels = now.level;
    if (is_early) a.state.levels[now.level] = static_cast<std::uint32_t>(now.n);
  }
  end_search(a, is_early, now.level);
}

/// Looks for a gap between two iterations, of which `a` is the next one.
WARDEN_KERNEL void close_gap(iteration a) {
  simt::assume_one_dimension();
  control& c = *a.state.control;
  std::uint32_t const least = c.empty[1 - a.interval];
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) c.empty[a.interval] = no_level;
  if (least != no_level) cut_off_above(a, least);
}

}  // namespace max_flow
