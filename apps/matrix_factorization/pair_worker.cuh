// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work of one worker in a tile pair, which is a part of the users and a part of the items. The
/// worker processes the ratings of its items batch by batch, each rating in its turn.
#pragma once

#include "apps/matrix_factorization/rounds_arguments.cuh"
#include "apps/matrix_factorization/step.cuh"
#include "apps/matrix_factorization/tile_pairs.hpp"

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

namespace factorization {

/// First item and ratings of a worker in a tile pair.
struct worker_start {
  std::uint32_t run, item;
  std::uint32_t free;  ///< see tile_pair_plan::frees
  std::uint32_t begin, run_end,
      end;  ///< numbers of ratings: first, end of the first item's, end of all
};

/// Rows and turns of a part of the users, in shared memory.
template <unsigned Rank>
struct user_table {
  simt::shared_span<row_share<Rank>> rows;  ///< [place * lanes + lane]; a row of zeros at the end
  simt::shared_span<std::uint32_t> turns;   ///< [place] ratings done in this tile pair
  std::uint32_t part;                       ///< number of the part

  static constexpr unsigned lanes = row_share<Rank>::lanes;
};

/// Worker: the lanes of a group.
template <unsigned Rank, class Step>
class worker {
  using share = row_share<Rank>;
  static constexpr unsigned size = row_lanes<Rank>::lanes;
  static constexpr unsigned most = placed_rating::most_of_batch;
  static_assert(most <= size);
  /// Batches of at most this many ratings are processed rating by rating. The facts of such a batch
  /// take longer to compute than the sums.
  static constexpr unsigned few = 2;
  /// Ratings that a worker holds in shared memory: two per lane.
  static constexpr unsigned window_size = 2 * size;

 public:
  /// Number of ratings in a worker's shared memory. The first ones are repeated at the end, so that
  /// each batch is contiguous.
  static constexpr unsigned places = window_size + most;

  /// Constructs a worker. `window` is shared memory for `places` ratings that no other worker uses.
  WARDEN_DEVICE worker(rounds_arguments<Step> const& a, user_table<Rank> const& users,
                       simt::shared_span<placed_rating> window)
      : a_{a}, users_{users}, window_{window} {}

  /// Processes the worker's ratings of a tile pair. `mine` is the lane's share of the first
  /// ratings. Returns false if a wait was given up. Collective over the group.
  WARDEN_DEVICE bool process(worker_start const& o, placed_rating mine) {
    if (o.begin == o.end) return true;
    held_item now{o.run + 1, o.run_end, o.item, *item_row(o.item)}, next = now;
    if (now.end != o.end) next = fetch_item(now.run);
    coming_ = mine;
    stored_ = o.begin;
    end_ = o.end;
    simt::group_enter(lanes_.mask(), a_.items + std::size_t{now.item} * Rank);
    std::uint32_t const free = o.free;  // mutation: factor-free
    if (free != 0) {
      process_free(now.q, o.begin, free);
      if (o.begin + free == now.end && !change_item(now, next)) return true;
    }
    batch b = batch_at(o.begin + free), next_batch = batch_at(b.at + b.n);
    for (;;) {
      if (!wait_for(b)) return false;
      share rows[most];
      enter(b, rows);
      batch const later = batch_at(next_batch.at + next_batch.n);
      if (b.n <= few) {
        WARDEN_UNROLL
        for (unsigned k = 0; k < few; ++k)
          if (k < b.n) a_.step.once(lanes_, rows[k], now.q, b.values[k]);
      } else {
        a_.step.together(lanes_, rows, now.q, b.values, b.n);
      }
      leave(b, rows);
      if (next_batch.at == now.end && !change_item(now, next)) return true;
      b = next_batch;
      next_batch = later;
    }
  }

  /// Returns rating number `at` plus the lane's number.
  WARDEN_DEVICE static placed_rating fetch_rating(rounds_arguments<Step> const& a, std::uint32_t at,
                                                  std::uint32_t end) {
    row_lanes<Rank> const lanes;
    placed_rating r{0, 0};
    if (at + lanes.lane() < end) r = a.ratings[at + lanes.lane()];
    return r;
  }

 private:
  /// Decode the bits of a placed_rating.
  static WARDEN_DEVICE std::uint32_t place(std::uint32_t bits) {
    return bits % placed_rating::most_places;
  }
  static WARDEN_DEVICE std::uint32_t turn(std::uint32_t bits) {
    return (bits >> placed_rating::place_bits) % placed_rating::most_turns;
  }
  static WARDEN_DEVICE std::uint32_t later_ratings(std::uint32_t bits) {
    return bits >> (placed_rating::place_bits + placed_rating::turn_bits);
  }

  /// Ratings of one item that a worker processes in one step.
  struct batch {
    std::uint32_t at, n;      ///< number of the first rating, and number of ratings
    std::uint32_t own;        ///< bits of the lane's rating; only in the first `most` lanes
    std::uint32_t row[most];  ///< place of the lane's share of each row; from n on the row of zeros
    float values[most];       ///< zeros from n on
  };
  /// Batch with the rows of its users, and the products of these rows.
  struct loaded_batch {
    batch b;
    share rows[most];
    batch_facts<most> facts;
  };
  /// Item that a worker holds.
  struct held_item {
    std::uint32_t run, end;  ///< number of the next item's run, and of its first rating
    std::uint32_t item;
    share q;  ///< its row
  };

  WARDEN_DEVICE share* item_row(std::uint32_t item) const {
    return share_of<Rank>(a_.items, item, lanes_.lane());
  }
  WARDEN_DEVICE held_item fetch_item(std::uint32_t run) const {
    std::uint32_t const item = a_.runs[run].item;
    return {run + 1, a_.runs[run + 1].begin, item, *item_row(item)};
  }
  /// Stores the item's row and takes the next item. Returns false if there is none.
  WARDEN_DEVICE bool change_item(held_item& now, held_item& next) const {
    *item_row(now.item) = now.q;
    simt::group_leave(lanes_.mask(), a_.items + std::size_t{now.item} * Rank);
    if (now.end == end_) return false;
    now = next;
    simt::group_enter(lanes_.mask(), a_.items + std::size_t{now.item} * Rank);
    if (now.end != end_) next = fetch_item(now.run);
    return true;
  }

  /// Ensures that the window has the `n` ratings from `at` on. Ratings are fetched rarely and long
  /// before they are needed, because a fence waits for loads that are under way.
  WARDEN_DEVICE void reach(std::uint32_t at, std::uint32_t n) {
    if (at + n <= stored_ || stored_ >= end_) return;
    unsigned const to = (stored_ + lanes_.lane()) % window_size;
    window_[to] = coming_;
    if (to < most) window_[to + window_size] = coming_;
    stored_ += size;
    coming_ = fetch_rating(a_, stored_, end_);
    lanes_.sync();  // mutation: factor-window
  }
  /// Returns the batch from `at` on, which is empty at the end. Collective, as all functions below.
  WARDEN_DEVICE batch batch_at(std::uint32_t at) {
    reach(at, most);
    batch b;
    b.at = at;
    unsigned const first = at % window_size;
    b.own = window_[first + lanes_.lane() % most].bits;
    b.n = at < end_ ? later_ratings(window_[first].bits) + 1 : 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < most; ++k) {
      placed_rating const r = window_[first + k];
      b.row[k] = (k < b.n ? place(r.bits) : a_.part_size) * size + lanes_.lane();
      b.values[k] = k < b.n ? r.value : 0;
    }
    return b;
  }
  /// Returns the batch at `at`. Precondition for its use: it is full and in the window.
  WARDEN_DEVICE batch full_batch_at(std::uint32_t at) const {
    batch b;
    b.at = at;
    b.n = most;
    unsigned const first = at % window_size;
    b.own = window_[first + lanes_.lane() % most].bits;
    WARDEN_UNROLL
    for (unsigned k = 0; k < most; ++k) {
      placed_rating const r = window_[first + k];
      b.row[k] = place(r.bits) * size + lanes_.lane();
      b.values[k] = r.value;
    }
    return b;
  }

  /// Waits for the turns of all ratings of a batch. Returns false if a wait was given up.
  WARDEN_DEVICE bool wait_for(batch const& b) const {
    bool alive = true;
    if (lanes_.lane() < b.n) {
      std::uint32_t const& word = users_.turns[place(b.own)];
      alive = wait_for_turn(a_, &word, {users_.part, place(b.own), 1, turn(b.own), 0},
                            [&] { return simt::shared_load(word); });
    }
    return !lanes_.any(!alive);
  }
  /// Loads the rows of a batch's users after its ratings' turns have come.
  WARDEN_DEVICE void enter(batch const& b, share (&rows)[most]) const {
    // Acquire: the worker that had the rows before fenced between writing them and the turns. Each
    // lane has seen one of these; the barrier hands it to the others.
    simt::fence_block();  // mutation: factor-row-acquire
    lanes_.sync();
    enter_first(b, rows);
  }
  /// Loads rows that no worker has had in this tile pair: the block's barrier before it is enough.
  WARDEN_DEVICE void enter_first(batch const& b, share (&rows)[most]) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < most; ++k) {
      if (k < b.n) simt::group_enter(lanes_.mask(), &users_.rows[b.row[k] - lanes_.lane()]);
      rows[k] = users_.rows[b.row[k]];
    }
  }
  /// Stores the rows of a batch and starts the turns of their next ratings.
  WARDEN_DEVICE void leave(batch const& b, share const (&rows)[most]) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < most; ++k) {
      if (k >= b.n) continue;
      users_.rows[b.row[k]] = rows[k];
      simt::group_leave(lanes_.mask(), &users_.rows[b.row[k] - lanes_.lane()]);
    }
    lanes_.sync();
    // Release, for the lanes of the group, whose writes the barrier has handed to this one.
    simt::fence_block();  // mutation: factor-row-release
    if (lanes_.lane() < b.n) simt::shared_store(users_.turns[place(b.own)], turn(b.own) + 1);
  }
  /// Processes the `n` first ratings, which are full batches and need not wait.
  WARDEN_DEVICE void process_free(share& q, std::uint32_t at, std::uint32_t n) {
    loaded_batch x, y;
    reach(at, 2 * most);
    x.b = full_batch_at(at);
    enter_first(x.b, x.rows);
    a_.step.look_ahead(lanes_, x.rows, x.facts);
    batch z = full_batch_at(at + most);
    std::uint32_t const last = at + n - most;
    while (x.b.at != last) {
      reach(x.b.at, 4 * most);
      // `x` and `y` swap roles, so that no rows are copied from one to the other.
      process_free_batch(q, x, y, z);
      if (y.b.at == last) {
        x = y;
        break;
      }
      process_free_batch(q, y, x, z);
    }
    typename Step::template sums<most> sums;
    a_.step.begin(lanes_, x.rows, q, sums);
    a_.step.finish(lanes_, sums, x.rows, q, x.b.values, x.facts);
    leave(x.b, x.rows);
  }
  /// Processes batch `x`. Loads the next batch, `z`, into `y`, and sets `z` to the batch after it.
  WARDEN_DEVICE void process_free_batch(share& q, loaded_batch& x, loaded_batch& y,
                                        batch& z) const {
    y.b = z;
    enter_first(y.b, y.rows);
    typename Step::template sums<most> sums;
    a_.step.begin(lanes_, x.rows, q, sums);
    z = full_batch_at(y.b.at + most);
    a_.step.finish(lanes_, sums, x.rows, q, x.b.values, x.facts, y.rows, y.facts);
    leave(x.b, x.rows);
  }

  rounds_arguments<Step> const& a_;
  user_table<Rank> const users_;
  simt::shared_span<placed_rating> const window_;
  row_lanes<Rank> lanes_;
  placed_rating coming_{0, 0};          ///< the lane's share of the ratings after the window
  std::uint32_t stored_ = 0, end_ = 0;  ///< number after the window's ratings, and after all
};

}  // namespace factorization
