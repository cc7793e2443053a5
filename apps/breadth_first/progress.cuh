// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of a search, and its next step: all blocks compute the same.
#pragma once

#include "apps/breadth_first/state.cuh"

#include <cstdint>

namespace breadth_first {

/// Work of the blocks until the next barrier of the grid.
enum class step_kind : std::uint32_t {
  wide,      ///< one level by all blocks
  narrow,    ///< some levels by one block
  up,        ///< one bottom-up level
  to_queue,  ///< queues the vertices found bottom-up; no level
  over       ///< nothing: the search has ended, or a queue was too small
};

/// Largest number of places, and of arcs, of a level that one block processes.
inline constexpr std::uint32_t narrow_places = search_threads;
inline constexpr std::uint64_t narrow_arcs = 2 * std::uint64_t{most_arcs_of_a_place};

/// Average number of arcs of a chunk, which a block takes at a time: enough that taking it is
/// cheap, and few enough that blocks end a level together.
inline constexpr std::uint64_t arcs_of_a_chunk = 4 * std::uint64_t{most_arcs_of_a_place};

/// Progress of a search. The first thread of each block keeps it in shared memory to save
/// registers.
struct progress {
  std::uint64_t places;       ///< places of the frontier's queue
  std::uint64_t vertices;     ///< vertices of the frontier
  std::uint64_t arcs;         ///< arcs that leave the frontier
  std::uint64_t before;       ///< vertices of the level before
  std::uint64_t followed;     ///< arcs that leave all vertices reached so far
  std::uint64_t most_places;  ///< most places of a queue so far
  std::uint64_t found;        ///< vertices found so far, with repetitions
  std::uint32_t chunks;       ///< number of chunks of the frontier's places
  std::uint32_t step;
  std::uint32_t level;             ///< level of the frontier
  std::uint32_t side;              ///< search_state::visited_in(side) is true
  std::uint32_t alone, bottom_up;  ///< levels by one block, and bottom-up levels, so far
  step_kind kind;                  ///< kind of the step
  bool is_eager;                   ///< true if rows are loaded before it is known which are needed

  /// Begins with the source as the only vertex.
  WARDEN_DEVICE void begin(row const& source) {
    places = most_places = places_of(source.arcs);
    vertices = found = 1;
    arcs = followed = source.arcs;
    before = 0;
    step = level = side = alone = bottom_up = 0;
    kind = step_kind::wide;
  }
  /// Adds the results of the last step: `sums`, and `places` in the queue that it filled.
  WARDEN_DEVICE void add(control::step_sums const& sums, std::uint64_t queued) {
    places = queued;
    if (queued > most_places) most_places = queued;
    ++step;
    level += sums.levels;
    if (kind == step_kind::to_queue) return;
    before = vertices;
    vertices = sums.found >> 32;
    arcs = sums.found & 0xffffffff;
    found += sums.passed_vertices + vertices;
    followed += sums.passed_arcs + arcs;
    if (kind == step_kind::narrow) alone += sums.levels;
    if (kind != step_kind::up) return;
    ++bottom_up;
    side = 1 - side;
  }
  /// Returns the place of this thread in a chunk. Neighbouring places belong to different chunks,
  /// because they may be parts of one long row, which a block can only follow one after another.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t place_in(std::uint32_t chunk) const {
    return std::uint64_t{simt::thread_rank()} * chunks + chunk;
  }
  /// Chooses the next step.
  WARDEN_DEVICE void choose(search_state const& s, bool may_go_up) {
    // If a thread has at most one arc, latencies are the cost of the level.
    is_eager = arcs <= std::uint64_t{simt::block_count()} * most_arcs_of_a_place;
    if (vertices == 0 || places > s.capacity) {
      kind = step_kind::over;
    } else if (kind == step_kind::up && !goes_down(s)) {
      return;
    } else if (kind == step_kind::up) {
      kind = step_kind::to_queue;
    } else if (may_go_up && goes_up(s)) {
      kind = step_kind::up;
    } else {
      bool const is_narrow = places <= narrow_places && arcs <= narrow_arcs;
      kind = is_narrow ? step_kind::narrow : step_kind::wide;
      if (!is_narrow) divide();
    }
  }

 private:
  /// Divides the frontier into chunks of at most one place per thread. One chunk per block is
  /// enough if it has few arcs. Avoids divisions, because the other threads wait for this one.
  WARDEN_DEVICE void divide() {
    std::uint64_t const by_places = (places + search_threads - 1) / search_threads;
    std::uint64_t const by_arcs = arcs / arcs_of_a_chunk;
    std::uint64_t const most = by_places < by_arcs ? by_arcs : by_places;
    chunks = most < simt::block_count() ? simt::block_count() : static_cast<std::uint32_t>(most);
  }
  /// True if many arcs leave the frontier, compared to the arcs not yet followed and to the cost of
  /// asking all vertices.
  [[nodiscard]] WARDEN_DEVICE bool goes_up(search_state const& s) const {
    return arcs * s.choice.alpha > s.out.arcs - followed + arcs &&
           arcs * s.choice.beta > s.out.vertices;
  }
  /// True if the frontier shrinks and is small.
  [[nodiscard]] WARDEN_DEVICE bool goes_down(search_state const& s) const {
    return vertices < before && vertices * s.choice.beta < s.out.vertices;
  }
};

}  // namespace breadth_first
