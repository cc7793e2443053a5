// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of a search for shortest paths in device memory: distances, the queue of near vertices and
/// the buckets of far ones.
#pragma once

#include "apps/breadth_first/begin.cuh"
#include "apps/graph/device_csr.cuh"
#include "apps/support/grid_barrier.cuh"

#include <warden/simt/launch.cuh>

#include <cstdint>

namespace shortest_paths {

namespace simt = warden::simt;

// A place of a queue holds a row, or a part of a long one, as in breadth-first search.
using breadth_first::most_arcs_of_a_place;
using breadth_first::part_of;
using breadth_first::place;
using breadth_first::places_of;
using breadth_first::row;
using breadth_first::row_of;
using breadth_first::search_threads;

/// Distance of an unreached vertex.
template <class Distance>
inline constexpr Distance unreached = static_cast<Distance>(~Distance{0});
/// Largest distance that a search stores. The number between the two stands for the overflow queue.
template <class Distance>
inline constexpr Distance most_distance = unreached<Distance> - 2;

// A shortest path has no vertex twice: at most 2^32 - 2 arcs, each of at most 2^32 - 1. A search
// stores no distance of a path with a vertex twice either, because no weight is negative. So
// distances of 64 bits do not overflow.
static_assert((graph::most_vertices - 1) <= most_distance<std::uint64_t> / graph::most_weight);

/// Largest number of buckets, the current one included.
inline constexpr unsigned most_buckets = 32;

/// Blocks of a search on one multiprocessor. Distances of 64 bits need more than half of its
/// registers.
template <class Distance>
inline constexpr unsigned blocks_together = sizeof(Distance) == sizeof(std::uint32_t) ? 2 : 1;

/// Device-wide counter with a cache line of its own.
struct alignas(128) counter {
  std::uint64_t n;
};

/// Counts that the blocks share with each other and the host. A late block may read counts of a
/// step while other blocks add to those of the next step, and while block 0 clears those of the
/// step after that. So there are 3 of each: number s mod 3 belongs to the queue of step s, and
/// number r mod 3 to the buckets of refill r.
struct control {
  apps::grid_barrier_state barrier;
  counter queued[3];  ///< places put into the queue of a step
  struct alignas(128) step_sums {
    std::uint64_t arcs;     ///< arcs of these places
    std::uint32_t too_far;  ///< 1: a distance did not fit its type
  };
  step_sums sums[3];
  /// Chunks that blocks took, except the first of each block. It only grows, modulo 2^32: blocks
  /// know how many were taken in earlier steps.
  alignas(128) std::uint32_t taken;
  counter far[3][most_buckets + 1];  ///< vertices put into a bucket, or into the overflow queue
  struct alignas(128) refill_sums {
    std::uint64_t closeness;  ///< `unreached` less the least distance beyond all buckets
  };
  refill_sums refilled[3];
  // For the host, when the search is over:
  alignas(128) std::uint64_t places;  ///< places queued
  std::uint64_t arcs;                 ///< arcs of these places
  std::uint32_t too_far;              ///< 1: ended by a distance that did not fit its type
  std::uint32_t endless;              ///< 1: given up after `search_state::most_steps`
  std::uint32_t steps;                ///< barriers of the grid
  std::uint32_t expansions;           ///< number of these steps that followed arcs
  std::uint32_t refills;              ///< number of these that looked for the next buckets
  std::uint32_t shift;                ///< the last bucket's width was 2 to the power of this
};

/// How a search chooses the vertices that it expands next.
struct schedule {
  unsigned buckets = 1;                ///< 1 to most_buckets
  bool scans = false;                  ///< finds far vertices by their distances, without queues
  bool adapts = true;                  ///< changes the width of buckets by the arcs of a step
  unsigned shift = 0;                  ///< a bucket is 2^shift wide; 64: all distances are near
  std::uint32_t local_iterations = 0;  ///< iterations of a block between two barriers, at most
};

/// State of a search. `Distance` is an unsigned integer of 32 or 64 bits.
template <class Distance>
struct search_state {
  graph::csr_view rows;         ///< at most 2^32 - 1 arcs, and as many vertices
  Distance* distances;          ///< [vertex]
  std::uint32_t* marks;         ///< [vertex] last step for which the vertex was queued
  simt::flit_words* queues[2];  ///< room for the places of all rows each
  /// [vertex] lower bound of the lowest bucket in which the vertex was put; `unreached` if in none,
  /// 1 less if in the overflow queue. Not used by scans.
  Distance* lowest;
  std::uint32_t* far;  ///< [bucket - 1][entry], then two overflow queues; `vertices` entries each
  shortest_paths::control* control;
  schedule how;
  std::uint32_t most_steps;

  WARDEN_DEVICE simt::flit_words* queue_of(std::uint32_t step) const {
    return step % 2 == 0 ? queues[0] : queues[1];
  }
  /// Returns the entries of a bucket, from 1 on, or of the overflow queue number `buckets` or
  /// `buckets` + 1.
  WARDEN_DEVICE std::uint32_t* far_queue(unsigned bucket) const {
    return far + (bucket - 1) * rows.vertices;
  }
};

}  // namespace shortest_paths
