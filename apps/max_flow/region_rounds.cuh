// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rounds of all regions until the next search, in one launch.
#pragma once

#include "apps/max_flow/gap.cuh"
#include "apps/max_flow/region.cuh"
#include "apps/support/grid_barrier.cuh"

#include <warden/cuda_names.cuh>

#include <cstdint>

namespace max_flow {

/// Threads of a block. A simulated one is dear.
inline constexpr unsigned region_threads = simt::has_registers ? 512 : 32;

/// The active vertices of a step, as discharge_share takes those of a round.
WARDEN_DEVICE void discharge_step(round const& r, in_region& by, work& done) {
  constexpr std::uint32_t rows = simt::warp_size / in_region::lanes;
  for (std::uint32_t active = by.begin_step(); active != 0; active = by.next_turn()) {
    for (std::uint32_t first = simt::warp_rank() * rows; first < active;
         first += simt::block_threads() / in_region::lanes) {
      std::uint32_t const i = first + simt::lane_id() / in_region::lanes;
      bool const is = i < active;
      discharge<in_region> vertex{r, is, is ? by.listed(i) : 0, by, done};
      while (simt::any(simt::full_warp, vertex.has_arcs())) {
        vertex.next([&](push const& p, bool mine) {
          if (mine) by.send(p);
        });
      }
      vertex.end();
    }
  }
}

/// Rounds of all regions, for their kernel.
struct region_rounds {
  max_flow::network network;
  flow_state state;
  region_borders borders;
  region_shape shape;
  std::uint32_t rounds;  ///< one at least
  std::uint32_t steps;   ///< of each, at most
};
/// Rounds between two looks for a gap: two at least.
inline constexpr std::uint32_t rounds_a_gap = 3;

/// A round of the regions of this cluster; adds to `count` what there is for the next one. With no
/// steps it notes what has come across the borders.
WARDEN_DEVICE void discharge_mine(region_rounds const& a, round const& r, std::uint32_t steps,
                                  std::uint64_t* count, region_memory const& memory, work& done) {
  unsigned const blocks = simt::cluster_size();
  std::uint32_t const regions = a.shape.regions(a.network.vertices);
  for (std::uint32_t i = simt::block_rank() / blocks; i < regions;
       i += simt::block_count() / blocks) {
    // Nobody tells a block of its next region's vertices while it looks at this one's.
    if (i != simt::block_rank() / blocks) simt::sync_cluster();
    in_region by{r, a.borders, memory, a.shape, i};
    by.begin();
    for (std::uint32_t step = 0; step < steps; ++step) {
      discharge_step(r, by, done);
      if (!by.end_step()) break;
    }
    by.end(count);
  }
}

/// All rounds until the next search, or until nobody is active, or an inbox was full: then the log
/// has to be run, as the heights that a push may rely on are those of its round. A cooperative
/// launch of clusters.
WARDEN_KERNEL void WARDEN_BOUNDS(region_threads, 1)
    discharge_regions(WARDEN_GRID_CONSTANT region_rounds const a) {
  control& c = *a.state.control;
  if (c.active[0] == 0) return;
  region_control& regions = c.regions;
  apps::grid_barrier barrier{&regions.barrier};
  WARDEN_SHARED(std::uint32_t, under_way);
  WARDEN_SHARED(std::uint32_t, lowest_empty);
  region_memory const memory = region_memory::in(simt::dynamic_shared(), a.shape.part);
  memory.clear(a.shape.part);
  simt::sync_cluster();
  bool const is_first = simt::block_rank() == 0;
  work done{};
  round r{a.network, a.state, 0, 0};
  bool goes_on = true;
  while (true) {
    std::uint32_t const k = r.number;
    discharge_mine(a, r, goes_on ? a.steps : 0, goes_on ? &regions.under_way[k % 3] : &c.active[0],
                   memory, done);
    if (!goes_on) break;
    // Whatever becomes 0 here has been read by all before the last barrier, and is written by none
    // before the next one. Of a barrier that failed the host is told.
    if (!barrier.wait(
            [&] {
              if (!is_first) return;
              regions.under_way[(k + 1) % 3] = 0;
              if (k % rounds_a_gap == 1) c.empty[1 - r.interval] = no_level;
            },
            [&] {
              bool const some = simt::load_relaxed(&regions.under_way[k % 3]) != 0;
              // Others may be in the next round already.
              std::uint32_t const full_in = simt::load_relaxed(&regions.full_in);
              bool const is_full = full_in == k + 1;  // sabotage: flow-full
              under_way = some && !is_full && k + 1 < a.rounds ? 1 : 0;
              lowest_empty = simt::load_relaxed(&c.empty[r.interval]);
            }))
      return;
    goes_on = under_way != 0;
    std::uint32_t const least = lowest_empty;
    ++r.number;
    if (!goes_on) {
      // All have read whether anybody was active when the launch began.
      if (!barrier.wait(
              [&] {
                if (!is_first) return;
                c.active[0] = 0;
                c.rounds += r.number;
              },
              [] {}))
        return;
    } else if (r.number % rounds_a_gap == 0) {
      r.interval = 1 - r.interval;
      if (least == no_level) continue;
      cut_off_above(r, least);
      if (!barrier.wait()) return;
    }
  }
  r.note_work(done);
}

}  // namespace max_flow
