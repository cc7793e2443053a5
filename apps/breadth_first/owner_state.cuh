// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of a search by owner: what one rank keeps in device memory.
#pragma once

#include "apps/breadth_first/state.cuh"

#include <cstdint>

namespace breadth_first {

/// Result of a level. Kernels of one step add; the next step reads.
struct level_sums {
  // Equal on all ranks:
  alignas(128) std::uint64_t vertices;  ///< of all ranks
  std::uint64_t arcs;                   ///< that leave them, estimated by `arcs_of_words`
  // This rank's queue:
  alignas(128) std::uint64_t places;
  std::uint64_t queued_arcs;
  std::uint32_t taken;  ///< chunks of the queue that blocks have taken, beyond the first ones
};

/// Kinds of step.
enum class owner_step : std::uint32_t {
  begin,     ///< no step yet
  down,      ///< a level: each rank follows the arcs of its part of the frontier
  up,        ///< a level: each rank's unvisited vertices look for a parent
  to_queue,  ///< the vertices that the last level found bottom-up are queued
  over       ///< nothing: the search has ended
};

/// Where a search is. Equal on all ranks, except for the queue.
struct owner_progress {
  std::uint64_t vertices;  ///< of the frontier
  std::uint64_t arcs;      ///< that leave the frontier, estimated
  std::uint64_t before;    ///< vertices of the level before
  std::uint64_t followed;  ///< arcs that leave all vertices reached so far, estimated
  std::uint64_t places;    ///< of this rank's queue, the rank's part of the frontier
  std::uint64_t queued_arcs;
  std::uint32_t level;      ///< of the frontier
  std::uint32_t side;       ///< `seen[side]` is the bitmap of visited vertices
  std::uint32_t bottom_up;  ///< levels that were searched bottom-up
  owner_step kind;          ///< of the step under way
};

/// Step s reads what step s - 1 left: progress s mod 2 and the sums of step s - 1. It writes
/// progress s + 1 mod 2, adds to sums s mod 3 and zeroes sums s + 1 mod 3. The end of each kernel
/// makes its writes visible to the next one.
struct owner_control {
  owner_progress progress[2];
  level_sums sums[3];
};

/// All of it. Vertices are numbers of a `partition`.
struct owner_state {
  graph::csr_view out;     ///< rows of this rank's vertices, by place
  graph::csr_view in;      ///< the arcs that come to them, or `out` if each arc has one back
  std::uint64_t vertices;  ///< numbered vertices of all ranks
  std::uint64_t arcs;      ///< of all ranks
  std::uint32_t ranks, rank;
  std::uint32_t words;                 ///< of each rank's part of a bitmap
  std::uint32_t owned;                 ///< vertices of this rank
  std::uint32_t const* arcs_of_words;  ///< [word of a bitmap]
  std::uint32_t* levels;               ///< [place]
  std::uint32_t* parents;              ///< [place] a number; its own for the source
  std::uint32_t* seen[2];              ///< bitmaps: bit n % 32 of word n / 32 is number n's
  std::uint32_t* gathered;             ///< [rank] the bitmap that the rank has sent
  simt::flit_words* queue;
  owner_control* control;
  direction_choice choice;

  WARDEN_HOST_DEVICE std::uint64_t all_words() const { return std::uint64_t{words} * ranks; }
  /// Number of this rank's first vertex.
  WARDEN_HOST_DEVICE std::uint32_t first() const { return rank * words * 32; }
  /// The bitmap that this rank sends.
  WARDEN_HOST_DEVICE std::uint32_t* sent() const { return gathered + rank * all_words(); }
  // Chosen, not indexed: an indexed array of a parameter would be copied to local memory.
  WARDEN_DEVICE std::uint32_t* seen_in(std::uint32_t side) const {
    return side == 0 ? seen[0] : seen[1];
  }
};

}  // namespace breadth_first
