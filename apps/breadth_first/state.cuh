// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of a breadth-first search in device memory: levels and parents of reached vertices, and
/// queues of rows.
#pragma once

#include "apps/graph/device_csr.cuh"
#include "apps/support/grid_barrier.cuh"

#include <warden/simt/launch.cuh>

#include <cstdint>

namespace breadth_first {

namespace simt = warden::simt;

/// Level and parent of an unreached vertex.
inline constexpr std::uint32_t unreached = 0xffffffff;

/// Threads of a block that searches. Simulated threads are slow.
inline constexpr unsigned search_threads = simt::has_registers ? 512 : 64;
/// Number of arcs that a thread follows at a time, so that their loads overlap.
inline constexpr unsigned arcs_at_once = simt::has_registers ? 4 : 2;
/// Largest number of arcs of one place in a queue: the arcs that a block follows at a time. A
/// longer row has several places, for any blocks.
inline constexpr std::uint32_t most_arcs_of_a_place = search_threads * arcs_at_once;

/// A vertex's row in a queue, or a part of it.
struct place {
  std::uint32_t vertex;
  std::uint32_t arcs;   ///< 0: no vertex
  std::uint32_t begin;  ///< the first arc

  WARDEN_DEVICE simt::flit_words words() const {
    return {std::uint64_t{arcs} << 32 | vertex, begin};
  }
  WARDEN_DEVICE static place of(simt::flit_words const& w) {
    return {static_cast<std::uint32_t>(w.first), static_cast<std::uint32_t>(w.first >> 32),
            static_cast<std::uint32_t>(w.second)};
  }
};

/// Counts that the blocks share with each other and the host. Step s takes its places from queue s
/// mod 2, and their counts from number s mod 3. It leaves those of the next step in the next queue
/// and number, and clears the third number, because a late block may still read the first.
struct control {
  apps::grid_barrier_state barrier;
  /// Count of a queue, with a cache line of its own: all blocks add to it.
  struct alignas(128) queue_end {
    std::uint64_t places;  ///< places put in
    /// Chunks that blocks took, in addition to the first chunk of each block. It is 0 at the
    /// beginning of the step on this queue, and only that step adds to it. The host zeroes it for
    /// the first three steps. Later, in step s, block 0 zeroes the counter of step s - 1: all
    /// blocks have added to it before the barrier between these steps, and step s + 2 uses it two
    /// barriers later. The additions need no order: a ticket only selects places, and these were
    /// written before the barrier that precedes the step.
    std::uint32_t taken;
  };
  struct alignas(128) step_sums {
    /// Vertices of the step's last level, times 2^32, and the arcs that leave them: one atomic for
    /// a block. Arcs need more bits only if vertices were found more than once.
    std::uint64_t found;
    std::uint64_t passed_vertices, passed_arcs;  ///< counts of the earlier levels
    std::uint32_t levels;
  };
  queue_end ends[3];
  step_sums sums[3];
  // For the host, when the search is over:
  alignas(128) std::uint64_t most_places;  ///< largest number of places that a queue had or needed
  std::uint64_t found;                     ///< vertices found, with repetitions
  std::uint32_t levels;                    ///< levels with vertices, including that of the source
  std::uint32_t alone;                     ///< number of these that one block ran by itself
  std::uint32_t bottom_up;                 ///< number of these that ran bottom-up
};

/// Thresholds of bottom-up levels [Beamer 2012].
struct direction_choice {
  std::uint32_t alpha =
      14;  ///< bottom-up begins if the frontier has 1 / alpha of the arcs not yet followed
  std::uint32_t beta =
      24;  ///< it ends if the frontier shrinks and has less than 1 / beta of the vertices
};

/// State of a search.
struct search_state {
  graph::csr_view out;     ///< below 2^32 arcs and 2^32 - 1 vertices
  graph::csr_view in;      ///< the same arcs by their ends, or `out` if all arcs have a reverse one
  std::uint32_t* levels;   ///< [vertex]
  std::uint32_t* parents;  ///< [vertex] the source is its own parent
  std::uint32_t* visited[2];    ///< [vertex / 32] one bit per vertex; see `visited_in`
  simt::flit_words* queues[2];  ///< room for `capacity` places each
  std::uint64_t capacity;
  breadth_first::control* control;
  direction_choice choice;

  // Arrays are chosen by conditions, because an indexed array would be in local memory.

  WARDEN_DEVICE simt::flit_words* queue_of(std::uint32_t level) const {
    return level % 2 == 0 ? queues[0] : queues[1];
  }
  WARDEN_DEVICE std::uint32_t* visited_in(std::uint32_t turn) const {
    return turn % 2 == 0 ? visited[0] : visited[1];
  }
};

/// Returns the number of 32-bit words for the bits of `vertices` vertices.
WARDEN_HOST_DEVICE std::uint64_t words_of(std::uint64_t vertices) { return (vertices + 31) / 32; }
WARDEN_DEVICE std::uint32_t bit_of(std::uint32_t v) { return 1u << v % 32; }

/// The arcs of a vertex.
struct row {
  std::uint32_t begin, arcs;
};
WARDEN_DEVICE row row_of(graph::csr_view const& rows, std::uint32_t v) {
  auto const begin = static_cast<std::uint32_t>(rows.offsets[v]);
  return {begin, static_cast<std::uint32_t>(rows.offsets[v + std::uint64_t{1}]) - begin};
}
/// Returns the number of places of a row.
WARDEN_DEVICE std::uint32_t places_of(std::uint32_t arcs) {
  return arcs / most_arcs_of_a_place + (arcs % most_arcs_of_a_place != 0 ? 1 : 0);
}

}  // namespace breadth_first
