// SPDX-License-Identifier: Apache-2.0
/// @file
/// A worker of a decoupled worklist: a block that expands the vertices that the manager gives it.
#pragma once

#include "apps/breadth_first/gather.cuh"
#include "apps/shortest_paths/worklist.cuh"

#include <cstdint>

namespace shortest_paths {

template <class Distance>
class worklist_worker {
  using gather = breadth_first::gather_by_all;
  static constexpr unsigned arcs_at_once = breadth_first::arcs_at_once;
  /// Segments of the entries that a block can reserve at a time in one bucket.
  static constexpr unsigned most_segments = search_threads * arcs_at_once / segment_entries + 1;
  static_assert(search_threads >= worklist_buckets && search_threads * arcs_at_once <= 0xffff);

 public:
  struct storage {
    typename gather::storage for_gather;
    Distance from[search_threads];         ///< [thread] distance of its vertex
    std::uint32_t vertex[search_threads];  ///< vertices that the block found and expands itself
    std::uint32_t kept[2];  ///< [iteration modulo 2] number of these, with those that had no room
    std::uint64_t work;     ///< word of the assignment
    std::uint32_t found[2][worklist_buckets];  ///< [turn][bucket] vertices of the block
    std::uint32_t place[worklist_buckets];     ///< [bucket] place of the first one in its segment
    std::uint32_t segments[worklist_buckets][most_segments];
  };

  WARDEN_DEVICE worklist_worker(worklist_state<Distance> const& s, storage& shared)
      : s_{s}, shared_{shared}, c_{*s.control}, gather_{shared.for_gather} {}

  /// Runs until the manager ends the search. Called by all threads of a block.
  WARDEN_DEVICE void run() {
    if (simt::thread_rank() < worklist_buckets) {
      simt::shared_store(shared_.found[0][simt::thread_rank()], 0u);
      simt::shared_store(shared_.found[1][simt::thread_rank()], 0u);
    }
    if (simt::thread_rank() == 0) {
      simt::shared_store(shared_.kept[0], 0u);
      simt::shared_store(shared_.kept[1], 0u);
    }
    for (std::uint64_t word = wait(); word != 0; word = wait()) {
      expand(assignment::of(word));
      // All threads have read their entries and queued what they found, before the last barrier.
      if (simt::thread_rank() == 0) finish(assignment::of(simt::shared_load(shared_.work)));
    }
  }

 private:
  [[nodiscard]] WARDEN_DEVICE std::uint64_t* my_word() const {
    return &s_.assigned[simt::block_rank() - 1];
  }
  /// Waits for an assignment. Returns 0 if the search is over. Collective.
  WARDEN_DEVICE std::uint64_t wait() {
    if (simt::thread_rank() == 0) {
      std::uint64_t word = 0;
      wait_for(my_word(), [&] { return (word = simt::load_acquire(my_word())) != 0; });
      simt::shared_store(shared_.work, word);
    }
    simt::sync_block();
    return simt::shared_load(shared_.work);
  }
  /// Waits until the predicate is true or the search is over. Gives up if the manager makes no
  /// pass.
  template <class Predicate>
  WARDEN_DEVICE void wait_for(std::uint64_t* watched, Predicate predicate) const {
    patience manager;
    simt::wait_until([&] { return predicate() || simt::load_relaxed(&c_.over) != 0; },
                     [&] {
                       if (manager.lasts(simt::load_relaxed(&c_.beats))) return true;
                       simt::store_relaxed(&c_.failed, 1u);
                       return false;
                     },
                     [&](auto watch) {
                       watch(watched);
                       watch(&c_.over);
                     });
  }

  WARDEN_DEVICE void finish(assignment const& mine) const {
    simt::fence_device();  // mutation: worklist-done
    std::uint32_t const segment = mine.first / segment_entries;
    // The last entry of a segment frees it.
    if (simt::fetch_add(&s_.read[segment], mine.count) + mine.count == segment_entries) {
      std::uint64_t const number = simt::fetch_add(&c_.freed.n, std::uint64_t{1});
      simt::fence_device();  // the other workers' loads of the entries, before the next stores
      simt::store_release(&s_.free[number % s_.segments], numbered(number, segment));
    }
    simt::fetch_add(&c_.done[mine.bucket].n, std::uint64_t{mine.count});
    simt::store_release(my_word(), std::uint64_t{0});
  }

  /// Expands entries, and then the vertices that the block has found and kept.
  WARDEN_DEVICE void expand(assignment const& mine) {
    unsigned const i = simt::thread_rank();
    std::uint32_t v = graph::no_vertex;
    if (i < mine.count) v = simt::load_relaxed(&s_.entries[mine.first + std::uint64_t{i}]);
    for (iteration_ = 0;; ++iteration_) {
      expand(v);
      // Orders the vertices that threads kept before the reads of other threads.
      simt::sync_block();
      std::uint32_t const kept = simt::shared_load(shared_.kept[iteration_ % 2]);
      if (kept == 0) break;
      v = i < kept ? simt::shared_load(shared_.vertex[i]) : graph::no_vertex;
      // Read by all threads before the last barrier, and used after the next one.
      if (i == 0) simt::shared_store(shared_.kept[(iteration_ + 1) % 2], 0u);
    }
    // Used again after the next assignment has come.
    if (i == 0) simt::shared_store(shared_.kept[(iteration_ + 1) % 2], 0u);
  }
  /// Expands a vertex of each thread. Rows that are too long for one place are expanded part by
  /// part.
  WARDEN_DEVICE void expand(std::uint32_t v) {
    unsigned const i = simt::thread_rank();
    row left{0, 0};
    if (v != graph::no_vertex) {
      // From now on a thread that shortens the distance puts the vertex into a bucket again.
      Distance const word = simt::fetch_or(&s_.words[v], Distance{1});
      simt::shared_store(shared_.from[i], static_cast<Distance>(word >> 1));
      left = row_of(s_.rows, v);
    }
    while (simt::sync_block_or(left.arcs != 0)) {
      std::uint32_t const arcs =
          left.arcs < most_arcs_of_a_place ? left.arcs : most_arcs_of_a_place;
      gather_.start({i, arcs, left.begin});
      left.begin += arcs;
      left.arcs -= arcs;
      breadth_first::some_arcs all;
      while (gather_.next(all)) relax(all);
    }
  }
  WARDEN_DEVICE void relax(breadth_first::some_arcs const& all) {
    std::uint32_t v[arcs_at_once];
    Distance to[arcs_at_once], before[arcs_at_once];
    bool found[arcs_at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      v[k] = all.is_one[k] ? s_.rows.neighbours[all.arc[k]] : 0;
      to[k] = all.is_one[k] ? s_.rows.weights[all.arc[k]] : 0;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      before[k] = all.is_one[k] ? simt::load_relaxed(&s_.words[v[k]]) : 0;
      found[k] = all.is_one[k] &&
                 add(to[k], simt::shared_load(shared_.from[gather_.from(k)]), before[k]) &&
                 to[k] < before[k] >> 1;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      // 0 in the lowest bit: the vertex is in a bucket.
      Distance const word = to[k] << 1;
      if (found[k]) before[k] = simt::fetch_min(&s_.words[v[k]], word);
      found[k] = found[k] && word < before[k] && before[k] % 2 != 0;
    }
    put(v, to, found);
  }
  /// Adds a distance to a weight. Returns false if the sum is no distance, and notes it unless the
  /// vertex, whose word was `before`, has a shorter one.
  WARDEN_DEVICE bool add(Distance& to, Distance from, Distance before) const {
    constexpr Distance all = unreached<Distance>, most = (all >> 1) - 1;
    if (from <= most && to <= most - from) {
      to += from;
      return true;
    }
    if (before == all) simt::store_relaxed(&c_.too_far, 1u);
    return false;
  }

  /// Keeps vertices of the first bucket, and puts others into the buckets of their distances: the
  /// block reserves the entries of a bucket together. Collective over the block.
  WARDEN_DEVICE void put(std::uint32_t const (&v)[arcs_at_once], Distance const (&to)[arcs_at_once],
                         bool (&found)[arcs_at_once]) {
    bool any = false;
    // The bucket, and the rank among the block's vertices of that bucket in the lower 16 bits.
    std::uint32_t ranks[arcs_at_once];
    auto const base = static_cast<Distance>(simt::load_relaxed(&c_.base));
    std::uint32_t const head = simt::load_relaxed(&c_.head), shift = simt::load_relaxed(&c_.shift);
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (!found[k]) continue;
      Distance const offset = to[k] <= base ? 0 : (to[k] - base) >> shift;
      found[k] = offset != 0 || !keep(v[k]);
      if (!found[k]) continue;
      any = true;
      auto const bucket = static_cast<std::uint32_t>(
                              head + (offset < worklist_buckets ? offset : worklist_buckets - 1)) %
                          worklist_buckets;
      ranks[k] = bucket << 16 | simt::shared_fetch_add(shared_.found[turn_][bucket], 1u);
    }
    if (!simt::sync_block_or(any)) return;
    unsigned const b = simt::thread_rank();
    std::uint32_t const mine =
        b < worklist_buckets ? simt::shared_load(shared_.found[turn_][b]) : 0;
    if (mine != 0) reserve(b, mine);
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (!found[k]) continue;
      std::uint32_t const bucket = ranks[k] >> 16;
      std::uint32_t const at = simt::shared_load(shared_.place[bucket]) + (ranks[k] & 0xffff);
      std::uint64_t const segment =
          simt::shared_load(shared_.segments[bucket][at / segment_entries]);
      simt::store_relaxed(&s_.entries[segment * segment_entries + at % segment_entries], v[k]);
    }
    simt::sync_block();
    if (mine != 0) publish(b, mine);
    // Read by this thread only since the first barrier; added to again after two more.
    if (b < worklist_buckets) simt::shared_store(shared_.found[turn_][b], 0u);
    turn_ = 1 - turn_;
  }
  /// True if the block keeps the vertex and expands it before its next assignment.
  WARDEN_DEVICE bool keep(std::uint32_t v) {
    if (iteration_ >= s_.local_iterations) return false;
    std::uint32_t const i = simt::shared_fetch_add(shared_.kept[iteration_ % 2], 1u);
    if (i >= search_threads) return false;
    simt::shared_store(shared_.vertex[i], v);
    return true;
  }
  /// Reserves entries of a bucket, and waits until the manager has given it their segments. It has
  /// some in advance, and never waits for a worker.
  WARDEN_DEVICE void reserve(unsigned bucket, std::uint32_t entries) {
    std::uint64_t const first = simt::fetch_add(&c_.reserved[bucket].n, std::uint64_t{entries});
    std::uint64_t const begin = first / segment_entries;
    auto const place = static_cast<std::uint32_t>(first % segment_entries);
    simt::shared_store(shared_.place[bucket], place);
    for (std::uint32_t n = 0; n * segment_entries < place + entries; ++n) {
      std::uint64_t* const entry = s_.table_entry(bucket, begin + n);
      std::uint64_t word = 0;
      wait_for(entry, [&] { return has_number(word = simt::load_acquire(entry), begin + n); });
      simt::shared_store(shared_.segments[bucket][n], static_cast<std::uint32_t>(word));
    }
  }
  /// Counts written entries, which all threads of the block have written.
  WARDEN_DEVICE void publish(unsigned bucket, std::uint32_t entries) const {
    simt::fence_device();  // mutation: worklist-publish
    std::uint32_t const place = simt::shared_load(shared_.place[bucket]);
    for (std::uint32_t n = 0; n * segment_entries < place + entries; ++n) {
      std::uint32_t const begin = n == 0 ? place : 0;
      std::uint32_t const end = place + entries - n * segment_entries;
      simt::fetch_add(&s_.written[simt::shared_load(shared_.segments[bucket][n])],
                      (end < segment_entries ? end : segment_entries) - begin);
    }
  }

  worklist_state<Distance> const& s_;
  storage& shared_;
  worklist_control& c_;
  gather gather_;
  unsigned turn_ = 0;            ///< number of `put` modulo 2
  std::uint32_t iteration_ = 0;  ///< iterations of the block with this assignment
};

}  // namespace shortest_paths
