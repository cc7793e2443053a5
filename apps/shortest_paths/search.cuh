// SPDX-License-Identifier: Apache-2.0
/// @file
/// A whole search as one cooperative launch. A barrier of the grid separates steps.
#pragma once

#include "apps/breadth_first/gather.cuh"
#include "apps/breadth_first/queue.cuh"
#include "apps/shortest_paths/progress.cuh"
#include "apps/support/device.cuh"

#include <warden/allocate.cuh>

#include <cstdint>

namespace shortest_paths {

/// A block's part of a search.
///
/// Distances only fall. Each thread that shortens a distance puts the vertex into a queue from
/// which it is expanded later, unless it is in that queue already. So when all queues are empty no
/// arc shortens a distance, in whatever order the vertices were expanded. The order decides only
/// how often a vertex is expanded.
template <class Distance>
class search_block {
  using gather = breadth_first::gather_by_all;
  using queue = breadth_first::queue_by_warps;
  static constexpr unsigned arcs_at_once = breadth_first::arcs_at_once;

 public:
  struct storage {
    typename gather::storage for_gather;
    typename queue::storage for_queue;
    Distance from[search_threads];  ///< [thread] distance of the vertex of its place
    /// Vertices that the block found and expands itself.
    std::uint32_t vertex[search_threads], arcs[search_threads], begin[search_threads];
    Distance distance[search_threads];
    std::uint32_t kept[2];  ///< [iteration modulo 2] number of these, with those that had no room
    std::uint32_t chunk;    ///< chunk to be followed next
    std::uint32_t arcs_queued;
    Distance least;         ///< least distance that a refill left
    std::uint32_t too_far;  ///< 1: a distance does not fit
    shortest_paths::progress<Distance> now;
  };

  WARDEN_DEVICE search_block(search_state<Distance> const& s, storage& shared)
      : s_{s}, shared_{shared}, gather_{shared.for_gather}, barrier_{&s.control->barrier} {}

  /// Runs the whole search. Called by all blocks of a cooperative launch.
  WARDEN_DEVICE void run(std::uint32_t source) {
    begin(source);
    for (bool is_first = true; end_step(is_first); is_first = false) {
      switch (now().kind) {
        case step_kind::expand:
          expand_all();
          break;
        case step_kind::open:
          open_bucket();
          break;
        case step_kind::refill:
          refill();
          break;
        case step_kind::over:
          return write_facts();
      }
    }
  }

 private:
  [[nodiscard]] WARDEN_DEVICE progress<Distance> const& now() const { return shared_.now; }

  WARDEN_DEVICE void begin(std::uint32_t source) {
    row const its = row_of(s_.rows, source);
    if (simt::thread_rank() == 0) {
      shared_.now.begin(s_, its);
      forget();
    }
    apps::for_my_share(s_.rows.vertices, [&](std::uint64_t v) {
      simt::store_relaxed(&s_.distances[v], v == source ? Distance{0} : unreached<Distance>);
      simt::store_relaxed(&s_.marks[v], 0u);
      if (!s_.how.scans) simt::store_relaxed(&s_.lowest[v], unreached<Distance>);
    });
    if (simt::block_rank() != 0) return;
    for (std::uint32_t p = simt::thread_rank(); p < places_of(its.arcs); p += search_threads)
      simt::store_flit(&s_.queues[0][p], part_of(source, its, p).words(), false);
  }
  WARDEN_DEVICE void write_facts() const {
    if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
    control& c = *s_.control;
    c.places = now().all_places;
    c.arcs = now().all_arcs;
    c.too_far = now().too_far;
    c.endless = now().step == s_.most_steps ? 1 : 0;
    c.steps = now().step;
    c.expansions = now().expansions;
    c.refills = now().refills;
    c.shift = now().shift;
  }

  // ---- expansion

  /// Expands all near vertices. Each block begins with one chunk. In wide steps it takes further
  /// chunks by ticket, in others it goes on with the vertices that it has found.
  WARDEN_DEVICE void expand_all() {
    if (simt::block_rank() >= now().chunks) return;
    place mine = place_of(simt::block_rank());
    bool goes_on = true;
    while (goes_on) {
      std::uint32_t ticket = 0;
      // The ticket is used only after the chunk has been followed.
      if (now().chunks > simt::block_count() && simt::thread_rank() == 0)
        ticket = simt::fetch_add(&s_.control->taken, 1u) - now().taken;
      expand(mine);
      goes_on = now().local_iterations != 0 ? take_kept(mine) : take_chunk(ticket, mine);
    }
  }
  [[nodiscard]] WARDEN_DEVICE place place_of(std::uint32_t chunk) const {
    std::uint64_t const i = now().place_in(chunk);
    if (i >= now().places) return {0, 0, 0};
    return place::of(simt::load_flit(&s_.queue_of(now().step)[i]));
  }
  /// Takes the next chunk. Returns false if there is none.
  WARDEN_DEVICE bool take_chunk(std::uint32_t ticket, place& mine) {
    if (now().chunks <= simt::block_count()) return false;
    // All threads have read the last chunk's number before a barrier in `expand`.
    if (simt::thread_rank() == 0) simt::shared_store(shared_.chunk, simt::block_count() + ticket);
    simt::sync_block();
    std::uint32_t const chunk = simt::shared_load(shared_.chunk);
    if (chunk >= now().chunks) return false;
    mine = place_of(chunk);
    return true;
  }
  /// Takes the vertices that the block has just found: that saves barriers of the grid while there
  /// are few. Returns false after too many iterations, and if more were found than the block keeps:
  /// then the vertices are queued for all blocks.
  WARDEN_DEVICE bool take_kept(place& mine) {
    // Orders the vertices and distances that threads found before the reads of other threads.
    simt::sync_block();
    std::uint32_t const found = simt::shared_load(shared_.kept[iteration_ % 2]),
                        i = simt::thread_rank();
    mine = {0, 0, 0};
    if (i < found) {
      mine = {simt::shared_load(shared_.vertex[i]), simt::shared_load(shared_.arcs[i]),
              simt::shared_load(shared_.begin[i])};
      simt::shared_store(shared_.from[i], simt::shared_load(shared_.distance[i]));
    }
    if (found == 0 || found > search_threads || iteration_ + 1 >= now().local_iterations) {
      put_near(mine.vertex, {mine.begin, mine.arcs});  // mutation: path-rest
      return false;
    }
    ++iteration_;
    // Read by all threads before the last barrier, and used after the next one.
    if (i == 0) simt::shared_store(shared_.kept[iteration_ % 2], 0u);
    return true;
  }

  /// Follows the arcs of each thread's place; collective over the block. Precondition: a barrier of
  /// the block has passed since the last call.
  WARDEN_DEVICE void expand(place const& mine) {
    // Read after the vertex was taken out of the queue: a thread that shortens the distance later
    // queues the vertex again. A block's own vertices come with the distances that it found.
    if (iteration_ == 0 && mine.arcs != 0) {
      simt::shared_store(shared_.from[simt::thread_rank()],
                         simt::load_relaxed(&s_.distances[mine.vertex]));
    }
    gather_.start({simt::thread_rank(), mine.arcs, mine.begin});
    breadth_first::some_arcs all;
    while (gather_.next(all)) relax(all);
  }

  /// Shortens the distances at the ends of some arcs, and queues these vertices. All loads of one
  /// kind are issued before the first is waited for. In steps of few arcs, whose latencies are
  /// their cost, rows of ends are prefetched before it is known which are needed.
  WARDEN_DEVICE void relax(breadth_first::some_arcs const& all) {
    std::uint32_t v[arcs_at_once];
    Distance to[arcs_at_once], before[arcs_at_once];
    bool found[arcs_at_once];
    bool const is_eager = now().local_iterations != 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      v[k] = all.is_one[k] ? s_.rows.neighbours[all.arc[k]] : 0;
      to[k] = all.is_one[k] ? s_.rows.weights[all.arc[k]] : 0;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      before[k] = all.is_one[k] ? simt::load_relaxed(&s_.distances[v[k]]) : 0;
      if (all.is_one[k] && is_eager) simt::prefetch(&s_.rows.offsets[v[k]]);
      if (all.is_one[k])
        to[k] = sum(simt::shared_load(shared_.from[gather_.from(k)]), to[k], before[k]);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      found[k] = to[k] < before[k];
      if (found[k]) before[k] = shorten(v[k], to[k]);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) found[k] = found[k] && to[k] < before[k];
    put(v, to, found);
  }
  /// Shortens a distance. Returns the one before.
  WARDEN_DEVICE Distance shorten(std::uint32_t v, Distance to) const {
    return simt::fetch_min(&s_.distances[v], to);  // mutation: path-atomic
  }
  /// Returns the sum. If that is no distance, returns `before`, which is no improvement, and notes
  /// it unless `before` is a shorter distance.
  WARDEN_DEVICE Distance sum(Distance from, Distance weight, Distance before) const {
    if constexpr (sizeof(Distance) == sizeof(std::uint32_t)) {
      std::uint64_t const exact = std::uint64_t{from} + weight;
      if (exact > most_distance<Distance>) {
        if (before == unreached<Distance>) simt::shared_store(shared_.too_far, 1u);
        return before;
      }
    }
    return from + weight;
  }

  // ---- queues

  /// Puts vertices where their new distances belong. Collective over the warp.
  WARDEN_DEVICE void put(std::uint32_t const (&v)[arcs_at_once], Distance const (&to)[arcs_at_once],
                         bool (&found)[arcs_at_once]) {
    row its[arcs_at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      bool const is_near = found[k] && to[k] < now().upper;
      its[k] = is_near ? row_of(s_.rows, v[k]) : row{0, 0};
      found[k] = found[k] && !is_near;
    }
    std::uint32_t count = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (found[k] && !s_.how.scans) put_far(v[k], to[k]);
      if (its[k].arcs == 0 || keep(v[k], to[k], its[k]) || !claims(v[k])) its[k].arcs = 0;
      count += places_of(its[k].arcs);
      arcs_ += its[k].arcs;
    }
    std::uint64_t at = allocate_near(count);
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) at = write(at, v[k], its[k]);
  }
  /// Queues a vertex with arcs for the next step. Collective over the warp.
  WARDEN_DEVICE void put_near(std::uint32_t v, row its) {
    if (its.arcs == 0 || !claims(v)) its.arcs = 0;
    arcs_ += its.arcs;
    write(allocate_near(places_of(its.arcs)), v, its);
  }
  /// True if this thread has to queue the vertex for the next step: no thread did. So the queue has
  /// room for the places of all rows.
  WARDEN_DEVICE bool claims(std::uint32_t v) const {
    std::uint32_t const next = now().step + 1;
    return simt::exchange(&s_.marks[v], next) != next;  // mutation: path-marks
  }
  WARDEN_DEVICE std::uint64_t allocate_near(std::uint32_t count) {
    return queue{&s_.control->queued[(now().step + 1) % 3].n, shared_.for_queue}.allocate(count);
  }
  /// Writes the places of a row. Returns the position after them.
  WARDEN_DEVICE std::uint64_t write(std::uint64_t at, std::uint32_t v, row const& its) const {
    simt::flit_words* const to = s_.queue_of(now().step + 1);
    for (std::uint32_t p = 0; p < places_of(its.arcs); ++p)
      simt::store_flit(&to[at++], part_of(v, its, p).words(), false);
    return at;
  }
  /// True if the block keeps the vertex and expands it in this step. Other blocks may do the same
  /// with other distances.
  WARDEN_DEVICE bool keep(std::uint32_t v, Distance to, row const& its) {
    if (now().local_iterations == 0 || its.arcs > most_arcs_of_a_place) return false;
    std::uint32_t const i = simt::shared_fetch_add(shared_.kept[iteration_ % 2], 1u);
    if (i >= search_threads) return false;
    simt::shared_store(shared_.vertex[i], v);
    simt::shared_store(shared_.distance[i], to);
    simt::shared_store(shared_.arcs[i], its.arcs);
    simt::shared_store(shared_.begin[i], its.begin);
    return true;
  }
  /// Puts a vertex into the bucket of its distance unless it is there already.
  WARDEN_DEVICE void put_far(std::uint32_t v, Distance d) const {
    unsigned const bucket = now().bucket_of(s_, d);
    bool const is_overflow = bucket == s_.how.buckets;
    Distance const bound = is_overflow ? unreached<Distance> - 1 : now().lower_bound_of(bucket);
    // A bucket takes a vertex at most once, so it has room for all vertices. A refill moves
    // vertices from one overflow queue to the other.
    if (!is_overflow || now().kind != step_kind::refill) {
      Distance const before = simt::fetch_min(&s_.lowest[v], bound);
      if (before <= bound) return;  // mutation: path-lowest
    }
    std::uint64_t const at =
        simt::fetch_add_together(&s_.control->far[now().refills % 3][bucket].n, 1);
    simt::store_relaxed(&s_.far_queue(is_overflow ? overflow(now().refills) : bucket)[at], v);
  }
  /// Returns the number of the overflow queue that a refill fills.
  [[nodiscard]] WARDEN_DEVICE unsigned overflow(std::uint32_t refill) const {
    return s_.how.buckets + refill % 2;
  }

  /// Queues the vertices of a bucket. One whose distance fell below the bucket is queued elsewhere.
  WARDEN_DEVICE void open_bucket() { put_all(s_.far_queue(now().bucket)); }
  /// Queues the vertices of the new range's first bucket, and puts others into its buckets.
  WARDEN_DEVICE void refill() {
    put_all(s_.how.scans ? nullptr : s_.far_queue(overflow(now().refills - 1)));
  }
  /// Puts the vertices of a queue where their distances belong, or all vertices if it is null.
  WARDEN_DEVICE void put_all(std::uint32_t const* queue) {
    Distance least = unreached<Distance>;
    std::uint64_t const n = now().entries,
                        threads = simt::block_count() * std::uint64_t{search_threads};
    for (std::uint64_t first = std::uint64_t{simt::block_rank()} * search_threads; first < n;
         first += arcs_at_once * threads) {
      std::uint32_t v[arcs_at_once];
      Distance d[arcs_at_once];
      bool is_one[arcs_at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < arcs_at_once; ++k) {
        std::uint64_t const i = first + k * threads + simt::thread_rank();
        is_one[k] = i < n;
        v[k] = is_one[k] && queue != nullptr ? simt::load_relaxed(&queue[i])
                                             : static_cast<std::uint32_t>(i);
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < arcs_at_once; ++k) {
        d[k] = is_one[k] ? simt::load_relaxed(&s_.distances[v[k]]) : unreached<Distance>;
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < arcs_at_once; ++k) {
        bool const is_wanted = d[k] >= now().lower && d[k] != unreached<Distance>;
        bool const is_near = is_wanted && d[k] < now().upper;
        if (is_wanted && d[k] >= now().range_end && d[k] < least) least = d[k];
        if (is_wanted && !is_near && !s_.how.scans) put_far(v[k], d[k]);
        put_near(v[k], is_near ? row_of(s_.rows, v[k]) : row{0, 0});
      }
    }
    if (least != unreached<Distance>) simt::shared_fetch_min(shared_.least, least);
  }

  // ---- steps

  /// Waits until all blocks have done the step, and chooses the next step. Returns false if the
  /// search has to be given up.
  WARDEN_DEVICE bool end_step(bool is_first) {
    std::uint32_t const arcs = simt::warp_sum(arcs_);
    arcs_ = 0;
    iteration_ = 0;
    // The block's counts are ready since the first thread's last barrier.
    if (simt::lane_id() == 0 && arcs != 0 && !is_first)
      simt::shared_fetch_add(shared_.arcs_queued, arcs);
    return barrier_.wait(
        [&] {
          if (!is_first) publish();
        },
        [&] {
          if (!is_first) shared_.now.add(s_);
          shared_.now.choose(s_);
        });
  }
  /// Adds the results of the block's step for the other blocks. The first thread calls it.
  WARDEN_DEVICE void publish() {
    control& c = *s_.control;
    std::uint32_t const next = (now().step + 1) % 3;
    std::uint32_t const third = (now().step + 2) % 3;  // mutation: path-late
    std::uint64_t const arcs = simt::shared_load(shared_.arcs_queued);
    if (arcs != 0) simt::fetch_add(&c.sums[next].arcs, arcs);
    if (simt::shared_load(shared_.too_far) != 0) simt::store_relaxed(&c.sums[next].too_far, 1u);
    std::uint64_t const closeness = unreached<Distance> - simt::shared_load(shared_.least);
    if (closeness != 0) simt::fetch_max(&c.refilled[now().refills % 3].closeness, closeness);
    forget();
    if (simt::block_rank() != 0) return;
    simt::store_relaxed(&c.queued[third].n, std::uint64_t{0});
    simt::store_relaxed(&c.sums[third].arcs, std::uint64_t{0});
    if (now().kind != step_kind::refill) return;
    std::uint32_t const following = (now().refills + 1) % 3;
    simt::store_relaxed(&c.refilled[following].closeness, std::uint64_t{0});
    for (unsigned b = 1; b <= s_.how.buckets; ++b)
      simt::store_relaxed(&c.far[following][b].n, std::uint64_t{0});
  }
  WARDEN_DEVICE void forget() {
    simt::shared_store(shared_.arcs_queued, 0u);
    simt::shared_store(shared_.least, unreached<Distance>);
    simt::shared_store(shared_.too_far, 0u);
    simt::shared_store(shared_.kept[0], 0u);
    simt::shared_store(shared_.kept[1], 0u);
  }

  search_state<Distance> const& s_;
  storage& shared_;
  gather gather_;
  apps::grid_barrier barrier_;
  std::uint32_t arcs_ = 0;       ///< arcs of the places that this thread queued
  std::uint32_t iteration_ = 0;  ///< iterations of the block in this step
};

}  // namespace shortest_paths
