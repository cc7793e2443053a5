// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of push-relabel: a preflow, heights, and the active vertices.
#pragma once

#include "apps/max_flow/network.cuh"
#include "apps/support/grid_barrier.cuh"

#include <warden/simt/launch.cuh>

#include <cstdint>

namespace max_flow {

/// Lanes that share a vertex's row: networks of this kind have rows of some ten arcs, and the loads
/// of one do not wait for those of another.
inline constexpr unsigned row_lanes = 8;
/// Threads of a block that works by itself for a while. A simulated thread is dear.
inline constexpr unsigned one_block_threads = simt::has_registers ? 1024 : 32;

/// An arc, which one load reads completely.
struct alignas(16) arc {
  /// Read by one load.
  struct alignas(8) ends {
    std::uint32_t to;    ///< where it leads
    std::uint32_t back;  ///< the other arc of its edge
  };
  arc::ends ends;
  std::uint32_t residual;  ///< residual capacity
  /// Residual capacity of both arcs together: always the capacity of their edge.
  std::uint32_t both;
};

/// The record: the flow that has come to a vertex and not gone on. 2^31 edges of less than 2^32
/// each come to less than 2^63: no sum of capacities leaves 64 bits.
/// Also the place of its arcs, because the two are always read together.
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
/// All of a vertex, while others may add to its excess.
WARDEN_DEVICE vertex_state load_vertex(vertex_state const& v) {
  simt::flit_words const words = simt::load_flit(reinterpret_cast<simt::flit_words const*>(&v));
  return {
      words.first,
      {static_cast<std::uint32_t>(words.second), static_cast<std::uint32_t>(words.second >> 32)}};
}

/// Shared state of the blocks of a search; all 0 before the search.
struct search_control {
  std::uint64_t wanted;         ///< vertices with excess that may get rid of it
  std::uint64_t found[2];       ///< those of them that were reached: see search_step
  std::uint64_t found_here[3];  ///< the same
  apps::grid_barrier_state barrier;
};

/// Shared state of the regions of a launch; all 0 before the launch, and before the search that it
/// follows.
struct region_control {
  std::uint64_t active;  ///< vertices when it began
  std::uint64_t due;     ///< steps until the next search
  std::uint64_t
      under_way[3];       ///< [iteration modulo 3] vertices and pushes that the next iteration has
  std::uint32_t full_in;  ///< the iteration in which an inbox had no room, and 1; 0: it had
  apps::grid_barrier_state barrier;
};

/// State that the iterations share with each other and the host, in device memory. Iteration r
/// takes its vertices from list r mod 2 and their number from `active[r mod 3]`, and leaves those
/// of the next iteration in the next ones; at the same time the third number becomes 0.
struct control {
  std::uint64_t active[3];
  std::uint64_t arrived;     ///< at the terminal that this phase brings excess to
  std::uint64_t iterations;  ///< those that had active vertices
  std::uint64_t pushes;
  std::uint64_t relabels;
  std::uint32_t levels;      ///< levels of the last search
  std::uint32_t next;        ///< the iteration after this one: for sections that run between two
  std::uint32_t empty[2];    ///< by interval between two looks: the least level that became empty
  std::uint64_t reached[3];  ///< by a search: see search_step
  std::uint32_t step_level[2];  ///< the same
  search_control search;        ///< state of the last search
  region_control regions;       ///< the same; both become 0 together
};
/// In `empty`: none.
inline constexpr std::uint32_t no_level = 0xffffffff;

/// All of it. Heights are below `vertices` where the terminal of the phase can be reached, else
/// `vertices`. There are two arrays, read in turn: an iteration reads the heights of its beginning
/// and writes those of its active vertices, changed or not, for the next one. A vertex's two
/// heights are the same when it is inactive.
struct flow_state {
  vertex_state* vertices;  ///< [vertex] of terminals no excess is kept
  arc* arcs;
  std::uint32_t* heights[2];  ///< [vertex]
  std::uint32_t* levels;      ///< [height below `vertices`] vertices of it
  std::uint64_t*
      frontiers[2];  ///< frontiers of a search, with room for all vertices each: see packed_row
  max_flow::control* control;
  // Active vertices of an iteration: room for all vertices each.
  std::uint32_t* lists[2];
  // Where regions are discharged, which have no lists; else null. `active[0]` counts the bits when
  // their iterations begin.
  std::uint32_t* bits;        ///< [vertex / 32] whether it is active, a bit each
  std::uint32_t* risen_from;  ///< [vertex] its height before the iteration in which it rose last

  // Chosen, not indexed: else a kernel keeps them in local memory.

  /// The heights that iteration `number` reads.
  WARDEN_DEVICE std::uint32_t* heights_in(std::uint32_t number) const {
    return number % 2 == 0 ? heights[0] : heights[1];
  }
  /// The list that it takes its vertices from.
  WARDEN_DEVICE std::uint32_t* list_in(std::uint32_t number) const {
    return number % 2 == 0 ? lists[0] : lists[1];
  }
  /// The frontier that step `number` of a search takes its vertices from.
  WARDEN_DEVICE std::uint64_t* frontier_in(std::uint32_t number) const {
    return number % 2 == 0 ? frontiers[0] : frontiers[1];
  }
};

/// Puts `item` into the list of iteration `number`.
WARDEN_DEVICE void put(flow_state const& s, std::uint32_t number, std::uint32_t item) {
  std::uint64_t const place = simt::fetch_add_together(&s.control->active[number % 3], 1);
  s.list_in(number)[place] = item;
}
/// Makes `v` active in iteration `number`. A thread that changes an excess from 0 does that, so
/// that it happens once in an iteration.
WARDEN_DEVICE void activate(flow_state const& s, std::uint32_t number, std::uint32_t v) {
  if (s.bits == nullptr) return put(s, number, v);
  std::uint32_t const bit = 1u << v % 32;
  if ((simt::fetch_or(&s.bits[v / 32], bit) & bit) == 0)
    simt::add_together(&s.control->active[0], 1);
}

/// Counts of a lane in an iteration.
struct work {
  unsigned pushes = 0, relabels = 0;
  std::uint64_t arrived = 0;  ///< at a terminal
};

/// An iteration, for its kernels.
struct iteration {
  max_flow::network network;
  flow_state state;
  std::uint32_t number;    ///< even where the heights and the list are the first ones
  std::uint32_t interval;  ///< between two looks for a gap, modulo 2

  WARDEN_DEVICE std::uint32_t const* heights() const { return state.heights_in(number); }
  WARDEN_DEVICE std::uint32_t* next_heights() const { return state.heights_in(number + 1); }
  WARDEN_DEVICE std::uint32_t const* active() const { return state.list_in(number); }

  /// Work of one thread of the iteration for all. Returns the number of vertices in the list.
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
  /// Notes that a vertex goes from one height to another in this iteration. Where many vertices are
  /// active these share few levels, so lanes that happen to be together and leave one do so by one
  /// atomic.
  WARDEN_DEVICE void note_height(std::uint32_t from, std::uint32_t to) const {
    if (to < network.vertices) simt::add_together(&state.levels[to], 1u);
    std::uint32_t* const level = &state.levels[from];
    std::uint32_t const leaving = simt::count_together(level);
    // No vertex is left there.
    if (leaving != 0 && simt::fetch_add(level, 0 - leaving) == leaving)
      simt::fetch_min(&state.control->empty[interval], from);
  }
  /// Adds what the lanes of a whole warp did.
  WARDEN_DEVICE void note_work(work const& done) const {
    unsigned const pushes = simt::warp_sum(done.pushes), relabels = simt::warp_sum(done.relabels);
    if (done.arrived != 0) simt::fetch_add(&state.control->arrived, done.arrived);
    if (simt::lane_id() != 0) return;
    if (pushes != 0) simt::fetch_add(&state.control->pushes, std::uint64_t{pushes});
    if (relabels != 0) simt::fetch_add(&state.control->relabels, std::uint64_t{relabels});
  }
};

}  // namespace max_flow
