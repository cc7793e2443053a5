// SPDX-License-Identifier: Apache-2.0
/// @file
/// Progress of a search, and its next step: all blocks compute the same.
#pragma once

#include "apps/shortest_paths/state.cuh"

#include <cstdint>

namespace shortest_paths {

/// Work of the blocks until the next barrier of the grid.
enum class step_kind : std::uint32_t {
  expand,  ///< follows the arcs of the near vertices
  open,    ///< queues the vertices of the next bucket
  refill,  ///< queues the next vertices beyond all buckets, and fills the buckets
  over     ///< nothing: the search has ended
};

/// Largest number of places, and of arcs, that one block processes alone.
inline constexpr std::uint32_t narrow_places = search_threads;
inline constexpr std::uint64_t narrow_arcs = 2 * std::uint64_t{most_arcs_of_a_place};
/// Largest number of iterations of one block while the other blocks wait, because their wait is
/// bounded.
inline constexpr std::uint32_t most_narrow_iterations = simt::has_registers ? 4096 : 12;
/// Average number of arcs of a chunk, which a block takes at a time.
inline constexpr std::uint64_t arcs_of_a_chunk = 4 * std::uint64_t{most_arcs_of_a_place};

/// Progress of a search. The first thread of each block keeps it in shared memory.
///
/// The buckets hold the vertices of a **range** of distances. Vertices of bucket 0, the first one
/// of a range, are queued at once. Vertices beyond the range are in the overflow queue.
template <class Distance>
struct progress {
  Distance lower, upper;               ///< near distances: from `lower` to below `upper`
  Distance range, range_end;           ///< distances of the buckets: from `range` to `range_end`
  std::uint64_t places;                ///< places of this step's queue
  std::uint64_t arcs;                  ///< arcs of these places
  std::uint64_t entries;               ///< entries that an opening or a refill reads
  std::uint64_t of_chunk;              ///< places of a chunk if blocks have local iterations
  std::uint64_t all_places, all_arcs;  ///< places queued so far, and their arcs
  std::uint64_t range_arcs;            ///< arcs of the range's expansions
  std::uint32_t range_steps;           ///< number of the range's expansions
  std::uint32_t chunks;                ///< number of chunks of the places
  std::uint32_t taken;                 ///< chunks taken in earlier steps
  std::uint32_t local_iterations;      ///< iterations of a block in this step; 0: none
  std::uint32_t step, expansions, refills, too_far;
  unsigned shift, bucket;
  step_kind kind;

  /// Begins with the source as the only vertex.
  WARDEN_DEVICE void begin(search_state<Distance> const& s, row const& source) {
    *this = {};
    places = places_of(source.arcs);
    arcs = source.arcs;
    shift = s.how.shift;
    set_range(s, 0);
  }
  /// Adds the results of the last step.
  WARDEN_DEVICE void add(search_state<Distance> const& s) {
    if (kind == step_kind::expand && chunks > simt::block_count()) taken += chunks;
    ++step;
    places = simt::load_relaxed(&s.control->queued[step % 3].n);
    arcs = simt::load_relaxed(&s.control->sums[step % 3].arcs);
    too_far = simt::load_relaxed(&s.control->sums[step % 3].too_far);
    all_places += places;
    all_arcs += arcs;
  }
  /// Chooses the next step.
  WARDEN_DEVICE void choose(search_state<Distance> const& s) {
    if (too_far != 0 || step == s.most_steps) {
      kind = step_kind::over;
    } else if (places != 0) {
      kind = step_kind::expand;
      ++expansions;
      ++range_steps;
      range_arcs += arcs;
      divide(s);
    } else {
      local_iterations = 0;
      if (!opens_bucket(s)) choose_refill(s);
    }
  }
  /// Returns the place of this thread in a chunk, or a number that is not below `places`. In wide
  /// steps neighbouring places belong to different chunks, because they may be parts of one long
  /// row. In others a block takes neighbouring places, which are often close in the graph.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t place_in(std::uint32_t chunk) const {
    std::uint64_t const thread = simt::thread_rank();
    if (local_iterations == 0) return thread * chunks + chunk;
    return thread < of_chunk ? of_chunk * chunk + thread : places;
  }
  /// Returns the bucket of a far distance, or the number of buckets beyond the range.
  [[nodiscard]] WARDEN_DEVICE unsigned bucket_of(search_state<Distance> const& s,
                                                 Distance d) const {
    return d < range_end ? static_cast<unsigned>((d - range) >> shift) : s.how.buckets;
  }
  [[nodiscard]] WARDEN_DEVICE Distance lower_bound_of(unsigned of_bucket) const {
    return range + (Distance{of_bucket} << shift);
  }

 private:
  static constexpr unsigned bits = 8 * sizeof(Distance);

  /// Returns the distance `n` buckets after `from`, or `unreached` if there is none.
  [[nodiscard]] WARDEN_DEVICE Distance after(Distance from, unsigned n) const {
    if (shift >= bits || (unreached<Distance> - from) >> shift < n) return unreached<Distance>;
    return from + (Distance{n} << shift);
  }
  WARDEN_DEVICE void set_range(search_state<Distance> const& s, Distance begin) {
    range = lower = begin;
    upper = after(begin, 1);
    range_end = after(begin, s.how.buckets);
    bucket = 0;
  }
  /// Divides the places into chunks, of at most one place per thread. If the step has few arcs,
  /// each block has one chunk and goes on with the vertices that it finds.
  WARDEN_DEVICE void divide(search_state<Distance> const& s) {
    std::uint64_t const blocks = simt::block_count();
    if (places <= narrow_places && arcs <= narrow_arcs) {
      chunks = 1;
      of_chunk = places;
      local_iterations = s.how.local_iterations == 0 ? 0 : most_narrow_iterations;
      return;
    }
    local_iterations = places <= blocks * search_threads && arcs <= blocks * most_arcs_of_a_place
                           ? s.how.local_iterations
                           : 0;
    std::uint64_t const by_places = (places + search_threads - 1) / search_threads;
    std::uint64_t const by_arcs = arcs / arcs_of_a_chunk;
    std::uint64_t const most = by_places < by_arcs ? by_arcs : by_places;
    chunks = static_cast<std::uint32_t>(most < blocks || local_iterations != 0 ? blocks : most);
    of_chunk = (places + blocks - 1) / blocks;
  }
  /// True if a bucket of the range has entries: then the next step opens it.
  WARDEN_DEVICE bool opens_bucket(search_state<Distance> const& s) {
    while (++bucket < s.how.buckets) {
      entries = far_count(s, bucket);
      if (entries == 0) continue;  // mutation: path-closed
      kind = step_kind::open;
      lower = lower_bound_of(bucket);
      upper = after(lower, 1);
      return true;
    }
    return false;
  }
  WARDEN_DEVICE void choose_refill(search_state<Distance> const& s) {
    entries = s.how.scans ? s.rows.vertices : far_count(s, s.how.buckets);
    // A refill that found no vertex knows the least distance that is left. Others continue at the
    // end of the range, because later steps may have shortened that distance.
    bool const is_second = kind == step_kind::refill;
    Distance const begin = is_second ? least_left(s) : range_end;
    kind = entries == 0 || begin == unreached<Distance> ? step_kind::over : step_kind::refill;
    if (kind == step_kind::over) return;
    ++refills;
    if (!is_second) adapt(s);
    set_range(s, begin);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint64_t far_count(search_state<Distance> const& s,
                                                      unsigned of_bucket) const {
    return simt::load_relaxed(&s.control->far[refills % 3][of_bucket].n);
  }
  [[nodiscard]] WARDEN_DEVICE Distance least_left(search_state<Distance> const& s) const {
    return unreached<Distance> -
           static_cast<Distance>(simt::load_relaxed(&s.control->refilled[refills % 3].closeness));
  }
  /// Makes buckets wider if their steps have too few arcs for the GPU, and narrower if they have
  /// many, because wider buckets follow more arcs in vain.
  WARDEN_DEVICE void adapt(search_state<Distance> const& s) {
    std::uint64_t const threads = std::uint64_t{simt::block_count()} * search_threads;
    if (s.how.adapts && range_steps != 0) {
      if (range_arcs < range_steps * (threads / 16)) {
        if (shift + 1 < bits) ++shift;
      } else if (range_arcs > range_steps * (threads * 16)) {
        if (shift != 0) --shift;
      }
    }
    range_arcs = range_steps = 0;
  }
};

}  // namespace shortest_paths
