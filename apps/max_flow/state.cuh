// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of push-relabel: a preflow, heights, and the active vertices.
#pragma once

#include "apps/max_flow/network.cuh"
#include "apps/support/grid_barrier.cuh"

#include <warden/simt/launch.cuh>

#include <cstdint>

namespace max_flow {

/// Lanes that share a vertex's row. Typical networks have rows of about 10 arcs, and loads of
/// different lanes overlap.
inline constexpr unsigned row_lanes = 8;
/// Threads of the only block of a launch. Simulated threads are slow.
inline constexpr unsigned one_block_threads = simt::has_registers ? 1024 : 32;

/// An arc, which one load reads completely.
struct alignas(16) arc {
  /// Read by one load.
  struct alignas(8) ends {
    std::uint32_t to;    ///< vertex at its end
    std::uint32_t back;  ///< the other arc of its edge
  };
  arc::ends ends;
  std::uint32_t residual;  ///< residual capacity
  /// Residual capacity of both arcs together: always the capacity of their edge.
  std::uint32_t both;
};

/// Record: the excess of a vertex, and the range of its arcs, because both are always read
/// together. 2^31 edges of less than 2^32 each have a sum below 2^63, so every sum of capacities
/// fits 64 bits.
struct alignas(16) vertex_state {
  /// Range of a vertex's arcs, read by one load. A row of 2^32 arcs, all of which are loops and
  /// lead nowhere, appears as empty.
  struct alignas(8) arc_range {
    std::uint32_t first, number;
  };
  std::uint64_t excess;
  arc_range arcs;
};

/// Loads a whole arc at once, while other threads may change its residual capacity.
WARDEN_DEVICE arc load_arc(arc const& a) {
  std::uint32_t words[4];
  simt::load_four_words(&a, words);
  return {{words[0], words[1]}, words[2], words[3]};
}
/// Loads a whole vertex at once, while other threads may add to its excess.
WARDEN_DEVICE vertex_state load_vertex(vertex_state const& v) {
  simt::flit_words const words = simt::load_flit(reinterpret_cast<simt::flit_words const*>(&v));
  return {
      words.first,
      {static_cast<std::uint32_t>(words.second), static_cast<std::uint32_t>(words.second >> 32)}};
}

/// Shared state of the blocks of a search; all 0 before the search.
struct search_control {
  std::uint64_t wanted;         ///< number of vertices with excess that may leave them
  std::uint64_t found[2];       ///< number of these that were reached: see search_step
  std::uint64_t found_here[3];  ///< see search_step
  apps::grid_barrier_state barrier;
};

/// Shared state of the regions of a launch; all 0 before the launch, and before the search that it
/// follows.
struct region_control {
  std::uint64_t active;        ///< active vertices at the beginning of the launch
  std::uint64_t due;           ///< steps until the next search
  std::uint64_t under_way[3];  ///< [iteration modulo 3] vertices and pushes for the next iteration
  std::uint32_t full_in;       ///< 1 plus the iteration in which an inbox was full; 0 if none was
  apps::grid_barrier_state barrier;
};

/// State that the iterations share with each other and the host, in device memory. Iteration r
/// takes its vertices from list r mod 2 and their number from `active[r mod 3]`, and puts those of
/// the next iteration into the next list and number. It also clears the third number.
struct control {
  std::uint64_t active[3];
  std::uint64_t arrived;     ///< flow that has arrived at the target of this phase
  std::uint64_t iterations;  ///< iterations that had active vertices
  std::uint64_t pushes;
  std::uint64_t relabels;
  std::uint32_t levels;  ///< levels of the last search
  std::uint32_t next;    ///< number of the next iteration, for sections that run between iterations
  std::uint32_t
      empty[2];  ///< [interval between two searches for a gap] lowest level that became empty
  std::uint64_t reached[3];     ///< vertices of a search's frontiers: see search_step
  std::uint32_t step_level[2];  ///< see search_step
  search_control search;        ///< state of the last search
  region_control regions;       ///< state of the last launch of regions; cleared with `search`
};
/// Value of `empty` if no level became empty.
inline constexpr std::uint32_t no_level = 0xffffffff;

/// State of push-relabel. The height of a vertex is below `vertices` if it can reach the terminal
/// of the phase, otherwise `vertices`. Iterations alternate between two arrays of heights: an
/// iteration reads one, and writes the heights of its active vertices, changed or not, to the
/// other. The two heights of an inactive vertex are equal.
struct flow_state {
  vertex_state* vertices;  ///< [vertex] terminals keep no excess
  arc* arcs;
  std::uint32_t* heights[2];  ///< [vertex]
  std::uint32_t* levels;      ///< [height below `vertices`] number of vertices
  std::uint64_t*
      frontiers[2];  ///< frontiers of a search, with room for all vertices each: see packed_row
  max_flow::control* control;
  // Active vertices of an iteration. Each list has room for all vertices.
  std::uint32_t* lists[2];
  // Used by regions instead of lists, otherwise null. `active[0]` counts the bits at the beginning
  // of their iterations.
  std::uint32_t* bits;        ///< [vertex / 32] bits: 1 if the vertex is active
  std::uint32_t* risen_from;  ///< [vertex] its height before the iteration in which it rose last

  // Arrays are chosen by conditions, because an indexed array would be in local memory.

  /// Returns the heights that iteration `number` reads.
  WARDEN_DEVICE std::uint32_t* heights_in(std::uint32_t number) const {
    return number % 2 == 0 ? heights[0] : heights[1];
  }
  /// Returns the list of vertices of iteration `number`.
  WARDEN_DEVICE std::uint32_t* list_in(std::uint32_t number) const {
    return number % 2 == 0 ? lists[0] : lists[1];
  }
  /// Returns the frontier of step `number` of a search.
  WARDEN_DEVICE std::uint64_t* frontier_in(std::uint32_t number) const {
    return number % 2 == 0 ? frontiers[0] : frontiers[1];
  }
};

/// Puts `item` into the list of iteration `number`.
WARDEN_DEVICE void put(flow_state const& s, std::uint32_t number, std::uint32_t item) {
  std::uint64_t const place = simt::fetch_add_together(&s.control->active[number % 3], 1);
  s.list_in(number)[place] = item;
}
/// Makes `v` active in iteration `number`. Called by the thread that changes an excess from 0, and
/// so once in an iteration.
WARDEN_DEVICE void activate(flow_state const& s, std::uint32_t number, std::uint32_t v) {
  if (s.bits == nullptr) return put(s, number, v);
  std::uint32_t const bit = 1u << v % 32;
  if ((simt::fetch_or(&s.bits[v / 32], bit) & bit) == 0)
    simt::add_together(&s.control->active[0], 1);
}

/// Counts of a lane in an iteration.
struct work {
  unsigned pushes = 0, relabels = 0;
  std::uint64_t arrived = 0;  ///< flow that arrived at a terminal
};

/// Arguments of the kernels of an iteration.
struct iteration {
  max_flow::network network;
  flow_state state;
  std::uint32_t number;    ///< number; even numbers use the first heights and list
  std::uint32_t interval;  ///< number, modulo 2, of the interval between two searches for a gap

  WARDEN_DEVICE std::uint32_t const* heights() const { return state.heights_in(number); }
  WARDEN_DEVICE std::uint32_t* next_heights() const { return state.heights_in(number + 1); }
  WARDEN_DEVICE std::uint32_t const* active() const { return state.list_in(number); }

  /// Begins the iteration; one thread updates the shared counts. Returns the number of vertices in
  /// the list.
  WARDEN_DEVICE std::uint64_t begin() const {
    control& c = *state.control;
    std::uint64_t const active = c.active[number % 3];
    if (simt::block_rank() == 0 && simt::thread_rank() == 0) {
      c.active[(number + 2) % 3] = 0;
      c.next = number + 1;
      c.iterations += active != 0 ? 1 : 0;
    }
    return active;
  }
  /// Counts a vertex that moves from one height to another in this iteration. If many vertices are
  /// active, they share few levels, so lanes that leave the same level together use one atomic.
  WARDEN_DEVICE void note_height(std::uint32_t from, std::uint32_t to) const {
    if (to < network.vertices) simt::add_together(&state.levels[to], 1u);
    std::uint32_t* const level = &state.levels[from];
    std::uint32_t const leaving = simt::count_together(level);
    // The level became empty.
    if (leaving != 0 && simt::fetch_add(level, 0 - leaving) == leaving)
      simt::fetch_min(&state.control->empty[interval], from);
  }
  /// Adds the work of all lanes of a warp. Collective over the warp.
  WARDEN_DEVICE void note_work(work const& done) const {
    unsigned const pushes = simt::warp_sum(done.pushes), relabels = simt::warp_sum(done.relabels);
    if (done.arrived != 0) simt::fetch_add(&state.control->arrived, done.arrived);
    if (simt::lane_id() != 0) return;
    if (pushes != 0) simt::fetch_add(&state.control->pushes, std::uint64_t{pushes});
    if (relabels != 0) simt::fetch_add(&state.control->relabels, std::uint64_t{relabels});
  }
};

}  // namespace max_flow
