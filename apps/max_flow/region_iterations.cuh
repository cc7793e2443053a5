// SPDX-License-Identifier: Apache-2.0
/// @file
/// Iterations of all regions until the next search, in one launch.
#pragma once

#include "apps/max_flow/gap.cuh"
#include "apps/max_flow/interval.cuh"
#include "apps/max_flow/region.cuh"
#include "apps/support/grid_barrier.cuh"

#include <warden/cuda_names.cuh>

#include <cstdint>

namespace max_flow {

/// Threads of a block. Simulated threads are slow.
inline constexpr unsigned region_threads = simt::has_registers ? 512 : 32;

/// Discharges the active vertices of a step, as discharge_share those of an iteration.
WARDEN_DEVICE void discharge_step(iteration const& r, in_region& by, work& done) {
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

struct border_arguments {
  max_flow::network network;
  region_shape shape;
  std::uint32_t* bits;  ///< region_borders::at_border
};
/// Marks vertices with a neighbour in another region that may be active. Launch: whole warps.
WARDEN_KERNEL void note_borders(border_arguments a) {
  simt::assume_one_dimension();
  network const& net = a.network;
  std::uint64_t const warps = simt::block_threads() / simt::warp_size;
  for (std::uint64_t word = simt::block_rank() * warps + simt::warp_rank();
       word * 32 < net.vertices; word += simt::block_count() * warps) {
    std::uint64_t const i = word * 32 + simt::lane_id();
    auto const v = static_cast<std::uint32_t>(i);
    bool is = false;
    // Skip terminals, which may have arcs to all vertices.
    if (i < net.vertices && !net.is_terminal(v)) {
      region_map const here{a.shape, a.shape.region_of(v)};
      for (std::uint64_t at = net.offsets[v]; at < net.offsets[i + 1] && !is; ++at)
        is = !here.has(net.neighbours[at]) && !net.is_terminal(net.neighbours[at]);
    }
    unsigned const bits = simt::ballot(simt::full_warp, is);  // mutation: flow-borders
    if (simt::lane_id() == 0) a.bits[word] = bits;
  }
}

/// Plan of a launch of iterations.
struct region_plan {
  std::uint32_t iterations;  ///< at least 1
  std::uint32_t steps;       ///< largest number of steps of each
};

/// Arguments of the kernel of all regions' iterations.
struct region_iterations {
  max_flow::network network;
  flow_state state;
  region_borders borders;
  region_shape shape;
  std::uint32_t steps;  ///< largest number of steps of an iteration
  std::uint64_t due;    ///< steps until the next search; 0: see `interval`
  search_interval interval;

  /// Least number of steps between two searches. Fewer are not worth a search.
  static constexpr std::uint64_t least_steps = simt::has_registers ? 48 : 12;
  /// Largest number of iterations of one launch, after which the host reads the results.
  static constexpr std::uint64_t most_iterations = 256;

  [[nodiscard]] WARDEN_DEVICE std::uint64_t steps_due() const {
    control const& c = *state.control;
    std::uint64_t const all =
        due != 0 ? due : interval.steps(c.levels, c.active[0], network.vertices);
    return all < least_steps ? least_steps : all;
  }
  [[nodiscard]] WARDEN_DEVICE region_plan plan(std::uint64_t all) const {
    std::uint64_t const now = all < most_iterations * steps ? all : most_iterations * steps;
    auto const iterations = static_cast<std::uint32_t>((now + steps - 1) / steps);
    return {iterations, static_cast<std::uint32_t>((now + iterations - 1) / iterations)};
  }
};
/// Iterations between two searches for a gap; at least 2.
inline constexpr std::uint32_t iterations_a_gap = 3;

/// Runs an iteration of this cluster's regions. Adds the active vertices and leaving pushes to
/// `count`. With 0 steps it only receives the pushes across borders.
WARDEN_DEVICE void discharge_mine(region_iterations const& a, iteration const& r,
                                  std::uint32_t steps, std::uint64_t* count,
                                  region_memory const& memory, work& done) {
  unsigned const blocks = simt::cluster_size();
  for (std::uint32_t i = simt::block_rank() / blocks; i < a.shape.regions;
       i += simt::block_count() / blocks) {
    // Other blocks of the cluster may activate vertices of a block's next region only after the
    // block has ended this region.
    if (i != simt::block_rank() / blocks) simt::sync_cluster();  // mutation: flow-turns
    in_region by{r, a.borders, memory, a.shape, i};
    by.begin();
    for (std::uint32_t step = 0; step < steps; ++step) {
      discharge_step(r, by, done);
      if (!by.end_step()) break;
    }
    by.end(count);
  }
}

/// Runs all iterations until the next search, until no vertex is active, or until an inbox was
/// full. In the last case the log has to be run, because a push may rely on the heights of its
/// iteration. Launch: cooperative, of clusters.
WARDEN_KERNEL void WARDEN_BOUNDS(region_threads, 1)
    discharge_regions(WARDEN_GRID_CONSTANT region_iterations const a) {
  simt::assume_one_dimension();
  control& c = *a.state.control;
  if (c.active[0] == 0) return;
  region_control& regions = c.regions;
  apps::grid_barrier barrier{&regions.barrier};
  WARDEN_SHARED(region_plan, plan);
  WARDEN_SHARED(std::uint32_t, under_way);
  WARDEN_SHARED(std::uint32_t, lowest_empty);
  region_memory const memory = region_memory::in(simt::dynamic_shared(), a.shape.part);
  memory.clear(a.shape.part);
  bool const is_first = simt::block_rank() == 0;
  if (simt::thread_rank() == 0) {
    std::uint64_t const due = a.steps_due();
    plan = a.plan(due);
    if (is_first) {
      regions.active = c.active[0];
      regions.due = due;
    }
  }
  simt::sync_cluster();
  region_plan const planned = plan;
  work done{};
  iteration r{a.network, a.state, 0, 0};
  bool goes_on = true;
  while (true) {
    std::uint32_t const k = r.number;
    discharge_mine(a, r, goes_on ? planned.steps : 0,
                   goes_on ? &regions.under_way[k % 3] : &c.active[0], memory, done);
    if (!goes_on) break;
    // All blocks have read the words that are cleared here before the last barrier, and no block
    // writes them before the next barrier. The host reads a failed barrier.
    if (!barrier.wait(
            [&] {
              if (!is_first) return;
              regions.under_way[(k + 1) % 3] = 0;
              if (k % iterations_a_gap == 1) c.empty[1 - r.interval] = no_level;
            },
            [&] {
              bool const some = simt::load_relaxed(&regions.under_way[k % 3]) != 0;
              // Other blocks may be in the next iteration already.
              std::uint32_t const full_in = simt::load_relaxed(&regions.full_in);
              bool const is_full = full_in == k + 1;  // mutation: flow-full
              under_way = some && !is_full && k + 1 < planned.iterations ? 1 : 0;
              lowest_empty = simt::load_relaxed(&c.empty[r.interval]);
            }))
      return;
    goes_on = under_way != 0;
    std::uint32_t const least = lowest_empty;
    ++r.number;
    if (!goes_on) {
      // After this barrier all blocks have read `active[0]` of the launch's beginning.
      if (!barrier.wait(
              [&] {
                if (!is_first) return;
                c.active[0] = 0;
                c.iterations += r.number;
              },
              [] {}))
        return;
    } else if (r.number % iterations_a_gap == 0) {
      r.interval = 1 - r.interval;
      if (least == no_level) continue;
      cut_off_above(r, least);
      if (!barrier.wait()) return;
    }
  }
  r.note_work(done);
}

}  // namespace max_flow
