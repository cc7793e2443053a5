// SPDX-License-Identifier: Apache-2.0
/// @file
/// A whole search as one cooperative launch, level by level. A barrier of the grid separates
/// levels; the host and other launches are not needed.
#pragma once

#include "apps/breadth_first/begin.cuh"
#include "apps/breadth_first/bottom_up.cuh"
#include "apps/breadth_first/cull.cuh"
#include "apps/breadth_first/gather.cuh"
#include "apps/breadth_first/progress.cuh"
#include "apps/breadth_first/queue.cuh"
#include "apps/breadth_first/state.cuh"

#include <warden/cuda_names.cuh>
#include <warden/simt/collective.cuh>

#include <cstdint>

namespace breadth_first {

/// Policy of a search: one policy of each kind, and whether levels may be bottom-up.
template <class Gather, class Cull, class Queue, bool BottomUp = false>
struct search_policy {
  using gather = Gather;
  using cull = Cull;
  using queue = Queue;
  static constexpr bool has_bottom_up = BottomUp;
};

/// A block's part of a search.
///
/// A **step** is the work between two barriers of the grid: a level by all blocks, or some levels
/// by one block. One block takes levels, and saves their barriers, as long as few vertices and arcs
/// belong to them; the frontier then stays in shared memory.
template <class Policy>
class search_block {
  using gather = typename Policy::gather;
  using cull = typename Policy::cull;
  using queue = typename Policy::queue;
  using sum = simt::block_scan<search_threads, true>;

  /// Largest number of levels that one block runs while the other blocks wait, because their wait
  /// is bounded.
  static constexpr std::uint32_t most_narrow_levels = simt::has_registers ? 4096 : 12;

 public:
  struct storage {
    typename gather::storage for_gather;
    typename cull::storage for_cull;
    typename queue::storage for_queue;
    typename sum::storage scan;
    /// Frontier of the only block.
    std::uint32_t vertex[narrow_places], arcs[narrow_places], begin[narrow_places];
    /// [level modulo 2] sums of the block. Places are counted only if one block has the frontier.
    std::uint32_t places_found[2], vertices_found[2], arcs_found[2];
    std::uint32_t chunk;  ///< chunk of a level of all blocks, to be followed next
    // Used by the first thread only:
    breadth_first::progress now;
    std::uint32_t levels;                        ///< levels of this step
    std::uint64_t passed_vertices, passed_arcs;  ///< counts of these levels except the last
  };

  /// Collective.
  WARDEN_DEVICE search_block(search_state const& s, storage& shared)
      : s_{s},
        shared_{shared},
        gather_{shared.for_gather},
        cull_{shared.for_cull},
        barrier_{&s.control->barrier} {}

  /// Runs the whole search. Called by all blocks of a cooperative launch.
  WARDEN_DEVICE void run(std::uint32_t source) {
    begin(source);
    for (bool is_first = true; end_step(is_first); is_first = false) {
      switch (now().kind) {
        case step_kind::wide:
          go_down_together();
          break;
        case step_kind::narrow:
          go_down_alone();
          break;
        case step_kind::up:
          go_up();
          break;
        case step_kind::to_queue:
          queue_level();
          break;
        case step_kind::over:
          return write_facts();
      }
    }
  }

 private:
  [[nodiscard]] WARDEN_DEVICE progress const& now() const { return shared_.now; }

  WARDEN_DEVICE void begin(std::uint32_t source) {
    if (simt::thread_rank() == 0) {
      shared_.now.begin(row_of(s_.out, source));
      shared_.passed_vertices = shared_.passed_arcs = 0;
      for (unsigned turn = 0; turn < 2; ++turn) forget(turn);
    }
    begin_search(s_, source);
  }
  /// Writes the facts of a search that is over.
  WARDEN_DEVICE void write_facts() const {
    if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
    control& c = *s_.control;
    c.most_places = now().most_places;
    c.found = now().found;
    c.levels = now().level;
    c.alone = now().alone;
    c.bottom_up = now().bottom_up;
  }

  // ---- top-down

  /// Runs a level by all blocks. Each block begins with one chunk of the frontier and takes further
  /// chunks by ticket, so that no block waits for one with more work.
  WARDEN_DEVICE void go_down_together() {
    std::uint32_t const chunks = now().chunks, blocks = simt::block_count();
    for (std::uint32_t chunk = simt::block_rank(); chunk < chunks;) {
      std::uint32_t ticket = 0;
      // The ticket is used only after the chunk has been followed.
      if (chunks > blocks && simt::thread_rank() == 0) ticket = simt::fetch_add(taken(), 1u);
      std::uint64_t const i = now().place_in(chunk);
      expand(i < now().places ? place::of(simt::load_flit(&this_queue()[i])) : place{0, 0, 0});
      if (chunks <= blocks) break;
      // All threads have read the last chunk's number before a barrier in `expand`.
      if (simt::thread_rank() == 0) simt::shared_store(shared_.chunk, blocks + ticket);
      simt::sync_block();
      chunk = simt::shared_load(shared_.chunk);
    }
    add_up();
    if (simt::thread_rank() == 0) shared_.levels = 1;
  }
  /// Runs some levels by one block.
  WARDEN_DEVICE void go_down_alone() {
    if (simt::block_rank() != 0) return;
    auto n = static_cast<std::uint32_t>(now().places);
    // Each thread reads only its own place.
    if (simt::thread_rank() < n)
      keep(simt::thread_rank(), place::of(simt::load_flit(&this_queue()[simt::thread_rank()])));
    for (std::uint32_t levels = 1;; ++levels) {
      expand(simt::thread_rank() < n ? kept(simt::thread_rank()) : place{0, 0, 0});
      add_up();
      // This barrier orders the writes of the level, which are the next frontier and its sums,
      // before the reads of the next level.
      simt::sync_block();
      unsigned const turn = now().level % 2;
      n = simt::shared_load(shared_.places_found[turn]);
      std::uint32_t const arcs = simt::shared_load(shared_.arcs_found[turn]);
      bool const goes_on =
          n != 0 && n <= narrow_places && arcs <= narrow_arcs && levels < most_narrow_levels;
      // All threads have read the sums before the first thread changes them.
      simt::sync_block();
      if (simt::thread_rank() == 0) forget(1 - turn);
      if (!goes_on) {
        if (simt::thread_rank() == 0) end_narrow(levels, n);
        // The other places are in the queue already. If the queue has no room, the search ends.
        std::uint32_t const kept_ones = n < narrow_places ? n : narrow_places;
        for (std::uint32_t i = simt::thread_rank(); i < kept_ones && i < s_.capacity;
             i += search_threads)
          simt::store_flit(&next_queue()[i], kept(i).words(), false);
        return;
      }
      if (simt::thread_rank() == 0) {
        shared_.passed_vertices += simt::shared_load(shared_.vertices_found[turn]);
        shared_.passed_arcs += arcs;
        ++shared_.now.level;
      }
      simt::sync_block();
    }
  }
  WARDEN_DEVICE void end_narrow(std::uint32_t levels, std::uint32_t n) {
    shared_.now.level -= levels - 1;  // counted when the step ends
    shared_.levels = levels;
    if (n != 0) simt::fetch_add(next_end(), std::uint64_t{n});
  }

  /// Follows the arcs of each thread's place; collective over the block.
  WARDEN_DEVICE void expand(place const& mine) {
    gather_.start(mine);
    some_arcs all;
    while (gather_.next(all)) visit(all);
  }

  /// Marks and queues the unvisited ends of some arcs. All loads of one kind are issued before the
  /// first is waited for.
  WARDEN_DEVICE void visit(some_arcs const& all) {
    std::uint32_t v[arcs_at_once], words[arcs_at_once];
    row its[arcs_at_once];
    bool found[arcs_at_once];
    std::uint32_t* const visited = s_.visited_in(now().side);
    bool const is_eager = now().is_eager;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k)
      v[k] = all.is_one[k] ? s_.out.neighbours[all.arc[k]] : unreached;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      words[k] = all.is_one[k] ? simt::load_relaxed(&visited[v[k] / 32]) : ~0u;
      its[k] = all.is_one[k] && is_eager ? row_of(s_.out, v[k]) : row{0, 0};
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) found[k] = (words[k] & bit_of(v[k])) == 0;
    cull_.keep(visited, v, found);
    std::uint32_t count = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (!found[k]) continue;
      if (!is_eager) its[k] = row_of(s_.out, v[k]);
      simt::store_relaxed(&s_.levels[v[k]], now().level + 1);
      simt::store_relaxed(&s_.parents[v[k]], gather_.from(k));
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (!found[k]) continue;
      count += places_of(its[k].arcs);
      note(its[k].arcs);
    }
    std::uint64_t at = allocate(count);
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (found[k]) at = put(at, v[k], its[k]);
    }
  }

  /// Writes the places of a row from place `at` on. Returns the place after them.
  WARDEN_DEVICE std::uint64_t put(std::uint64_t at, std::uint32_t v, row const& its) {
    bool const is_narrow = now().kind == step_kind::narrow;
    for (std::uint32_t p = 0; p < places_of(its.arcs); ++p, ++at) {
      place const part = part_of(v, its, p);
      if (is_narrow && at < narrow_places) {
        keep(static_cast<std::uint32_t>(at), part);
      } else if (at < s_.capacity) {
        simt::store_flit(&next_queue()[at], part.words(), false);
      }
    }
    return at;
  }
  /// Returns the first of this thread's places in the next frontier. Collective over the block.
  WARDEN_DEVICE std::uint64_t allocate(std::uint32_t count) {
    if (now().kind != step_kind::narrow)
      return queue{next_end(), shared_.for_queue}.allocate(count);
    std::uint32_t& found = shared_.places_found[now().level % 2];
    // All threads have read the previous sum, and see the new one.
    simt::sync_block();
    std::uint32_t const before = simt::shared_load(found);
    std::uint32_t all;
    std::uint32_t const first = before + sum::exclusive_sum(shared_.scan, count, all);
    // After the barrier of the sum all threads have read `found`.
    if (simt::thread_rank() == 0) simt::shared_store(found, before + all);
    return first;
  }
  WARDEN_DEVICE void keep(std::uint32_t i, place const& p) {
    simt::shared_store(shared_.vertex[i], p.vertex);
    simt::shared_store(shared_.arcs[i], p.arcs);
    simt::shared_store(shared_.begin[i], p.begin);
  }
  WARDEN_DEVICE place kept(std::uint32_t i) const {
    return {simt::shared_load(shared_.vertex[i]), simt::shared_load(shared_.arcs[i]),
            simt::shared_load(shared_.begin[i])};
  }

  // ---- bottom-up

  WARDEN_DEVICE void go_up() {
    if constexpr (Policy::has_bottom_up) {
      parent_search{s_, s_.visited_in(now().side), s_.visited_in(1 - now().side), now().level}.run(
          [&](std::uint32_t arcs) { note(arcs); });
      add_up();
      if (simt::thread_rank() == 0) shared_.levels = 1;
    }
  }
  /// Queues the vertices that the last level found.
  WARDEN_DEVICE void queue_level() {
    if constexpr (Policy::has_bottom_up) {
      std::uint32_t const* const visited = s_.visited_in(now().side);
      std::uint32_t const* const before = s_.visited_in(1 - now().side);
      for (std::uint64_t first = std::uint64_t{simt::block_rank()} * search_threads;
           first < s_.out.vertices; first += std::uint64_t{simt::block_count()} * search_threads) {
        std::uint64_t const i = first + simt::thread_rank();
        auto const v = static_cast<std::uint32_t>(i);
        bool const mine =
            i < s_.out.vertices && (visited[v / 32] & ~before[v / 32] & bit_of(v)) != 0;
        if (!simt::sync_block_or(mine)) continue;
        row const its = mine ? row_of(s_.out, v) : row{0, 0};
        put(allocate(places_of(its.arcs)), v, its);
      }
      if (simt::thread_rank() == 0) shared_.levels = 0;
    }
  }

  // ---- steps

  [[nodiscard]] WARDEN_DEVICE simt::flit_words* this_queue() const {
    return s_.queue_of(now().step);
  }
  [[nodiscard]] WARDEN_DEVICE simt::flit_words* next_queue() const {
    return s_.queue_of(now().step + 1);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint64_t* next_end() const {
    return &s_.control->ends[(now().step + 1) % 3].places;
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t* taken() const {
    return &s_.control->ends[now().step % 3].taken;
  }

  /// Notes that this thread found a vertex with `arcs` outgoing arcs.
  WARDEN_DEVICE void note(std::uint32_t arcs) {
    ++vertices_;
    arcs_ += arcs;
  }
  /// Adds the counts of the block's threads. Sums of arcs wrap around in 32 bits only if vertices
  /// were found several times. Only the choice of the next step depends on them.
  WARDEN_DEVICE void add_up() {
    unsigned const turn = now().level % 2;
    unsigned const vertices = simt::warp_sum(vertices_), arcs = simt::warp_sum(arcs_);
    if (simt::lane_id() == 0 && vertices != 0) {
      simt::shared_fetch_add(shared_.vertices_found[turn], vertices);
      simt::shared_fetch_add(shared_.arcs_found[turn], arcs);
    }
    vertices_ = arcs_ = 0;
  }
  WARDEN_DEVICE void forget(unsigned turn) {
    simt::shared_store(shared_.places_found[turn], 0u);
    simt::shared_store(shared_.vertices_found[turn], 0u);
    simt::shared_store(shared_.arcs_found[turn], 0u);
  }

  /// Waits until all blocks have done the step, and chooses the next step. Returns false if the
  /// search has to be given up.
  WARDEN_DEVICE bool end_step(bool is_first) {
    return barrier_.wait(
        [&] {
          if (!is_first) publish_sums();
        },
        [&] {
          progress& now = shared_.now;
          if (!is_first) {
            control const& c = *s_.control;
            control::step_sums const* const sums = &c.sums[(now.step + 1) % 3];
            now.add({simt::load_relaxed(&sums->found), simt::load_relaxed(&sums->passed_vertices),
                     simt::load_relaxed(&sums->passed_arcs), simt::load_relaxed(&sums->levels)},
                    simt::load_relaxed(next_end()));
          }
          now.choose(s_, Policy::has_bottom_up);
        });
  }
  /// Adds the results of the block's step for the other blocks.
  WARDEN_DEVICE void publish_sums() {
    control& c = *s_.control;
    std::uint32_t const next = (now().step + 1) % 3, third = (now().step + 2) % 3;
    std::uint64_t vertices = 0;
    std::uint32_t arcs = 0;
    for (unsigned turn = 0; turn < 2; ++turn) {
      vertices += simt::shared_load(shared_.vertices_found[turn]);
      arcs += simt::shared_load(shared_.arcs_found[turn]);
      forget(turn);
    }
    if (vertices != 0) simt::fetch_add(&c.sums[next].found, vertices << 32 | arcs);
    if (simt::block_rank() != 0) return;
    simt::store_relaxed(&c.sums[next].passed_vertices, shared_.passed_vertices);
    simt::store_relaxed(&c.sums[next].passed_arcs, shared_.passed_arcs);
    simt::store_relaxed(&c.sums[next].levels, shared_.levels);
    shared_.passed_vertices = shared_.passed_arcs = 0;
    simt::store_relaxed(&c.ends[third].places, 0);
    simt::store_relaxed(&c.ends[third].taken, 0);
    simt::store_relaxed(&c.sums[third].found, 0);
  }

  search_state const& s_;
  storage& shared_;
  gather gather_;
  cull cull_;
  apps::grid_barrier barrier_;
  unsigned vertices_ = 0, arcs_ = 0;  ///< that this thread found
};

/// Searches from `source`. Precondition: the control is zeroed.
template <class Policy>
WARDEN_KERNEL void WARDEN_BOUNDS(search_threads, 2)
    search(WARDEN_GRID_CONSTANT search_state const s, std::uint32_t source) {
  simt::assume_one_dimension();
  using block = search_block<Policy>;
  WARDEN_SHARED(typename block::storage, shared);
  block{s, shared}.run(source);
}

}  // namespace breadth_first
