// SPDX-License-Identifier: Apache-2.0
/// @file
/// An epoch in rounds: a block holds the rows of a part of the users in shared memory and processes
/// them with one part of the items after another.
///
/// One block per part of the items runs concurrently. In each step the plan gives each block a
/// different part of the items. So no two blocks have the same part of the items at a time, and a
/// block waits only for the block that had its part of the items before.
///
/// Within a tile pair, the group of lanes that has an item keeps its row in registers for the whole
/// tile pair. Users' rows are on chip, and each rating has a planned turn among those of its user.
/// So no locks are needed, and each epoch gives the same result, bit for bit.
#pragma once

#include "apps/matrix_factorization/pair_worker.cuh"
#include "apps/matrix_factorization/rounds_arguments.cuh"
#include "apps/matrix_factorization/step.cuh"
#include "apps/matrix_factorization/tile_pairs.hpp"

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

namespace factorization {

/// Work of one block of `Threads` threads in an epoch.
template <unsigned Rank, unsigned Threads, class Step>
class rounds_block {
  using share = row_share<Rank>;
  using one_worker = worker<Rank, Step>;
  static constexpr unsigned size = row_lanes<Rank>::lanes;

 public:
  /// Number of groups of lanes: the workers of a tile_pair_plan.
  static constexpr unsigned workers = Threads / size;
  /// Returns the bytes of shared memory for parts of `part_size` users.
  static constexpr std::size_t shared_bytes(std::uint32_t part_size) {
    return window_bytes +
           (sizeof(float) * Rank + sizeof(std::uint32_t)) * (std::size_t{part_size} + 1);
  }

  /// Constructs the block's state. `storage` is shared memory of `shared_bytes` bytes, the same for
  /// all threads of the block.
  WARDEN_DEVICE rounds_block(rounds_arguments<Step> const& a, std::byte* storage)
      : a_{a},
        rows_{reinterpret_cast<share*>(storage + window_bytes), (a.part_size + 1) * size},
        turns_{reinterpret_cast<std::uint32_t*>(storage + window_bytes +
                                                sizeof(float) * Rank * (a.part_size + 1)),
               a.part_size + 1},
        window_{reinterpret_cast<placed_rating*>(storage) + number() * one_worker::places,
                one_worker::places} {}

  /// Processes parts of the users until none is left or a wait was given up. Collective over the
  /// block.
  WARDEN_DEVICE void run() {
    simt::shared_span<std::uint32_t> const next = turns_;
    for (;;) {
      if (simt::thread_rank() == 0)
        simt::shared_store(next[a_.part_size], simt::fetch_add(&a_.control->next_part, 1u));
      simt::sync_block();
      part_ = simt::shared_load(next[a_.part_size]);
      if (part_ >= a_.user_parts || !serve()) return;
    }
  }

 private:
  static constexpr std::size_t window_bytes = sizeof(placed_rating) * workers * one_worker::places;
  static_assert(window_bytes % sizeof(share) == 0);

  /// Ratings in a cache line.
  static constexpr unsigned line = 128 / sizeof(placed_rating);

  /// A worker's runs of a tile pair, and the number of its first ratings that need not wait.
  struct worker_plan {
    std::uint32_t run, end_run, free;
  };
  /// Returns the worker's number.
  WARDEN_DEVICE static unsigned number() { return simt::thread_rank() / size; }
  /// Returns the part of the items of a step; any part after the last step.
  WARDEN_DEVICE std::uint32_t item_part(std::uint32_t step) const {
    return (part_ + a_.shifts[step < a_.item_parts ? step : 0]) % a_.item_parts;
  }
  /// Loads the plan of a step. The loads depend on each other, so they are spread over the three
  /// steps before it; no step waits for its plan.
  WARDEN_DEVICE worker_plan fetch_plan(std::uint32_t step) const {
    if (step >= a_.item_parts) return {0, 0, 0};
    std::size_t const at = (std::size_t{part_} * a_.item_parts + step) * workers + number();
    return {a_.begins[at], a_.begins[at + 1], a_.frees[at]};
  }
  WARDEN_DEVICE worker_start fetch_start(worker_plan const& s) const {
    item_run const first = a_.runs[s.run];
    return {s.run,
            first.item,
            s.free,
            first.begin,
            s.run == s.end_run ? first.begin : a_.runs[s.run + 1].begin,
            a_.runs[s.end_run].begin};
  }
  /// Calls `f(row in memory, place)` for each of the part's users that this worker copies.
  template <class F>
  WARDEN_DEVICE void for_users(F f) const {
    std::uint32_t const* const users = a_.user_of + std::size_t{part_} * a_.part_size;
    for (std::uint32_t p = number(); p < a_.part_size; p += workers) {
      if (users[p] != tile_pair_plan::no_user)
        f(*share_of<Rank>(a_.users, users[p], lanes_.lane()), p);
    }
  }

  /// Processes all tile pairs of the part. Returns false if a wait was given up.
  WARDEN_DEVICE bool serve() {
    worker_plan const plans[2] = {fetch_plan(0), fetch_plan(1)};
    for_users([&](share& row, std::uint32_t p) { rows_[p * size + lanes_.lane()] = row; });
    if (number() == 0) rows_[a_.part_size * size + lanes_.lane()] = share{};
    one_worker self{a_, {rows_, turns_, part_}, window_};
    worker_start now = fetch_start(plans[0]), next = fetch_start(plans[1]);
    worker_plan later = fetch_plan(2);
    placed_rating mine = one_worker::fetch_rating(a_, now.begin, now.end);
    std::uint32_t met = item_part(0);
    // Earlier tile pairs of the part of the items: one per part of users of the earlier waves,
    // which are all full, and one per earlier step of this wave.
    std::uint32_t const before = part_ - part_ % a_.item_parts;
    for (std::uint32_t step = 0; step < a_.item_parts; ++step) {
      std::uint32_t* const turns = a_.turns + met;
      std::uint32_t const turn = before + step;
      for (std::uint32_t p = simt::thread_rank(); p < a_.part_size; p += Threads)
        simt::shared_store(turns_[p], 0u);
      bool alive = true;
      if (simt::thread_rank() == 0) {
        alive = wait_for_turn(a_, turns, {part_, met, 0, turn, 0}, [&] {
          // Acquire: the thread that had the part before fenced between its block's writes and the
          // turn; the barrier hands it to the block.
          return simt::load_acquire(turns);  // mutation: factor-part-acquire
        });
      }
      if (simt::sync_block_or(!alive)) return false;
      worker_start const after = fetch_start(later);
      placed_rating const then = one_worker::fetch_rating(a_, next.begin, next.end);
      // Prefetch the other ratings of the next tile pair into the level-2 cache, because a fence
      // waits for their loads.
      if (std::uint32_t const k = next.begin + size + lanes_.lane() * line; k < next.end)
        simt::prefetch(a_.ratings + k);
      later = fetch_plan(step + 3);
      met = item_part(step + 1);
      alive = self.process(now, mine);
      now = next;
      next = after;
      mine = then;
      if (simt::sync_block_or(!alive)) return false;
      if (simt::thread_rank() == 0) {
        // Release: the barrier hands this thread what the block wrote.
        simt::fence_device();  // mutation: factor-part-release
        simt::store_relaxed(turns, turn + 1);
      }
    }
    for_users([&](share& row, std::uint32_t p) { row = rows_[p * size + lanes_.lane()]; });
    return true;
  }

  rounds_arguments<Step> const& a_;
  row_lanes<Rank> lanes_;
  simt::shared_span<share> rows_;  ///< [place * lanes + lane]
  simt::shared_span<std::uint32_t>
      turns_;  ///< [place] ratings done in the tile pair; then the next part
  simt::shared_span<placed_rating> window_;  ///< window of the worker
  std::uint32_t part_ = 0;                   ///< part of users
};

}  // namespace factorization
