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
  alignas(128) std::uint64_t vertices;  ///< vertices of all ranks
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
  std::uint64_t vertices;  ///< vertices of the frontier
  std::uint64_t arcs;      ///< that leave the frontier, estimated
  std::uint64_t before;    ///< vertices of the level before
  std::uint64_t followed;  ///< arcs that leave all vertices reached so far, estimated
  std::uint64_t places;    ///< places of this rank's queue, the rank's part of the frontier
  std::uint64_t queued_arcs;
  std::uint32_t level;      ///< level of the frontier
  std::uint32_t side;       ///< `seen[side]` is the bitmap of visited vertices
  std::uint32_t bottom_up;  ///< levels that were searched bottom-up
  owner_step kind;          ///< kind of the current step
};

/// Step s reads what step s - 1 left: progress s mod 2 and the sums of step s - 1. It writes
/// progress s + 1 mod 2, adds to sums s mod 3 and zeroes sums s + 1 mod 3. The end of each kernel
/// makes its writes visible to the next one.
struct owner_control {
  owner_progress progress[2];
  level_sums sums[3];
};

/// A vertex to which more arcs come is a hub. If only another rank finds a vertex, its owner looks
/// for a parent in its row, which takes a warp about 0.35 us for 32 arcs on an H200. The row of a
/// hub may have 10^6 arcs. So the parent of a hub travels with the bitmap of the rank that finds
/// it. If ranks own about equally many hubs, these are at most one word for 1,024 arcs of the
/// graph.
inline constexpr std::uint32_t most_arcs_searched = simt::has_registers ? 1024 : 32;

/// Words that a rank sends in a step, for `words` words of each rank's part of a bitmap and `hubs`
/// hubs of each rank: a multiple of 16 bytes.
WARDEN_HOST_DEVICE std::uint64_t sent_words(std::uint32_t words, std::uint32_t hubs,
                                            std::uint32_t ranks) {
  return ((std::uint64_t{words} + hubs) * ranks + 3) / 4 * 4;
}

/// All of it. Vertices are numbers of a `partition`.
struct owner_state {
  graph::csr_view out;     ///< rows of this rank's vertices, by place
  graph::csr_view in;      ///< the arcs that come to them, or `out` if each arc has one back
  std::uint64_t vertices;  ///< numbered vertices of all ranks
  std::uint64_t arcs;      ///< arcs of all ranks
  std::uint32_t ranks, rank;
  std::uint32_t words;                 ///< words of each rank's part of a bitmap
  std::uint32_t owned;                 ///< vertices of this rank
  std::uint32_t hubs;                  ///< the first places of each rank, see `most_arcs_searched`
  std::uint32_t const* arcs_of_words;  ///< [word of a bitmap]
  std::uint32_t* levels;               ///< [place]
  std::uint32_t* parents;              ///< [place] a number; its own for the source
  std::uint32_t* seen[2];              ///< bitmaps: bit n % 32 of word n / 32 is number n's
  std::uint32_t* gathered;             ///< [rank] the words that the rank has sent
  simt::flit_words* queue;
  owner_control* control;
  direction_choice choice;

  WARDEN_HOST_DEVICE std::uint64_t all_words() const { return std::uint64_t{words} * ranks; }
  /// Places of each rank.
  WARDEN_HOST_DEVICE std::uint32_t places() const { return words * 32; }
  /// Number of this rank's first vertex.
  WARDEN_HOST_DEVICE std::uint32_t first() const { return rank * places(); }
  /// Words that each rank sends in a step: a bitmap, and parents of hubs.
  WARDEN_HOST_DEVICE std::uint64_t sent_words() const {
    return breadth_first::sent_words(words, hubs, ranks);
  }
  /// The bitmap that a rank has sent.
  WARDEN_HOST_DEVICE std::uint32_t* bitmap_of(std::uint32_t r) const {
    return gathered + r * sent_words();
  }
  /// The bitmap that this rank sends.
  WARDEN_HOST_DEVICE std::uint32_t* sent() const { return bitmap_of(rank); }
  /// [owner * hubs + place] the parents that rank `r` has sent with its bitmap. The parent of a
  /// vertex has a meaning in the step in which the rank has set the vertex's bit.
  WARDEN_DEVICE std::uint32_t* hub_parents_of(std::uint32_t r) const {
    return bitmap_of(r) + all_words();
  }
  // Chosen, not indexed: an indexed array of a parameter would be copied to local memory.
  WARDEN_DEVICE std::uint32_t* seen_in(std::uint32_t side) const {
    return side == 0 ? seen[0] : seen[1];
  }
};

}  // namespace breadth_first
