// SPDX-License-Identifier: Apache-2.0
/// @file
/// An epoch in rounds: a block holds the rows of a part of the users on its chip and meets one part
/// of the items after another.
///
/// As many blocks as there are parts of items run side by side, and in each step their parts of the
/// users meet different parts of the items, as the plan says. So no two blocks have one part of the
/// items at a time, all users begin with different items, and blocks wait for nobody but the one
/// before whom each part of the items was.
///
/// Within a game the rows of items are in the registers of the group of lanes that has them for
/// the whole of it, those of users are on chip, and each rating knows its turn among those of its
/// user: the plan says it, so nobody takes locks, and each epoch gives the same result, bit for
/// bit.
#pragma once

#include "apps/matrix_factorization/games.hpp"
#include "apps/matrix_factorization/step.cuh"

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

namespace factorization {

/// How long a group waits for a turn before the epoch is given up.
struct turn_limit {
  std::uint64_t nanoseconds = 10'000'000'000ull;
  /// Time alone is no proof: a preempted thread must also have looked this often.
  std::uint32_t minimum_looks = 64;
};

/// A wait that was given up.
struct failed_turn {
  std::uint32_t user_part;  ///< whose block waited
  std::uint32_t of;         ///< a part of the items, or a place of the part of the users
  std::uint32_t is_row;     ///< the latter
  std::uint32_t turn;       ///< that was waited for
  std::uint32_t found;      ///< that it was
};

/// What the blocks of an epoch share, in device memory; zeroed before it.
struct rounds_control {
  std::uint32_t next_part;  ///< of users
  std::uint32_t failed;     ///< whether a wait was given up
  failed_turn first;        ///< the one; only the host reads it, after the launch
};

template <class Step>
struct rounds_arguments {
  float *users, *items;
  // The plan, in device memory.
  std::uint32_t const *user_of, *shifts;
  std::uint32_t const* begins;
  item_run const* runs;
  placed_rating const* ratings;
  std::uint32_t user_parts, item_parts, part_size;
  rounds_control* control;
  std::uint32_t* turns;  ///< [part of items] games that it has played; zeroed before
  turn_limit limit;
  Step step;
};

/// What one block of `Threads` threads does in an epoch.
template <unsigned Rank, unsigned Threads, class Step>
class rounds_block {
  using share = row_share<Rank>;
  static constexpr unsigned size = row_lanes<Rank>::lanes;

 public:
  /// Groups of lanes: those of a game_plan.
  static constexpr unsigned players = Threads / size;
  /// Bytes of shared memory for parts of so many users.
  static constexpr std::size_t shared_bytes(std::uint32_t part_size) {
    return (sizeof(float) * Rank + sizeof(std::uint32_t)) * std::size_t{part_size} +
           sizeof(std::uint32_t);
  }

  /// `storage` is shared memory of as many bytes, the same for the whole block.
  WARDEN_DEVICE rounds_block(rounds_arguments<Step> const& a, std::byte* storage)
      : a_{a},
        rows_{reinterpret_cast<share*>(storage), a.part_size * size},
        turns_{reinterpret_cast<std::uint32_t*>(storage + sizeof(float) * Rank * a.part_size),
               a.part_size + 1} {}

  /// Until no part of the users is left, or a wait was given up. Collective over the block.
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
  /// A player's runs of a game.
  struct sheet {
    std::uint32_t run, end_run;
  };
  /// How a player begins.
  struct opening {
    std::uint32_t run, item;
    std::uint32_t begin, run_end, end;  ///< of ratings: the first run's, and all of them
  };

  WARDEN_DEVICE unsigned player() const { return simt::thread_rank() / size; }
  /// Whom the part meets in that step; behind the last one, anybody.
  WARDEN_DEVICE std::uint32_t item_part(std::uint32_t step) const {
    return (part_ + a_.shifts[step < a_.item_parts ? step : 0]) % a_.item_parts;
  }
  /// What a step needs of the plan is fetched in three steps before it, as each needs the one
  /// before: nothing of that is then waited for.
  WARDEN_DEVICE sheet fetch_sheet(std::uint32_t step) const {
    if (step >= a_.item_parts) return {0, 0};
    std::size_t const game = std::size_t{part_} * a_.item_parts + step;
    std::uint32_t const* const at = a_.begins + game * players + player();
    return {at[0], at[1]};
  }
  WARDEN_DEVICE opening fetch_opening(sheet const& s) const {
    item_run const first = a_.runs[s.run];
    return {s.run, first.item, first.begin,
            s.run == s.end_run ? first.begin : a_.runs[s.run + 1].begin, a_.runs[s.end_run].begin};
  }
  WARDEN_DEVICE share* item_row(std::uint32_t item) const {
    return share_of<Rank>(a_.items, item, lanes_.lane());
  }
  /// Calls `f(row in memory, place)` for each of the part's users that is this player's.
  template <class F>
  WARDEN_DEVICE void for_users(F f) const {
    std::uint32_t const* const users = a_.user_of + std::size_t{part_} * a_.part_size;
    for (std::uint32_t p = player(); p < a_.part_size; p += players) {
      if (users[p] != game_plan::no_user) f(*share_of<Rank>(a_.users, users[p], lanes_.lane()), p);
    }
  }

  /// All games of the part. False once a wait was given up.
  WARDEN_DEVICE bool serve() {
    sheet const sheets[2] = {fetch_sheet(0), fetch_sheet(1)};
    for_users([&](share& row, std::uint32_t p) { rows_[p * size + lanes_.lane()] = row; });
    opening now = fetch_opening(sheets[0]), next = fetch_opening(sheets[1]);
    sheet later = fetch_sheet(2);
    placed_rating mine = fetch_rating(now.begin, now.end);
    std::uint32_t met = item_part(0);
    // Games that the part of the items has played before: with all parts of users of the waves
    // before, each of which is whole, and one in each step of this wave.
    std::uint32_t const before = part_ - part_ % a_.item_parts;
    for (std::uint32_t step = 0; step < a_.item_parts; ++step) {
      std::uint32_t* const turns = a_.turns + met;
      std::uint32_t const turn = before + step;
      for (std::uint32_t p = simt::thread_rank(); p < a_.part_size; p += Threads)
        simt::shared_store(turns_[p], 0u);
      bool alive = true;
      if (simt::thread_rank() == 0) {
        alive = wait_for(turns, met, false, turn, [&] { return simt::load_relaxed(turns); });
        // Acquire: who had the part before fenced between what its block wrote and the turn; the
        // barrier hands it to the block.
        simt::fence_device();  // sabotage: factor-part-acquire
      }
      if (simt::sync_block_or(!alive)) return false;
      opening const after = fetch_opening(later);
      placed_rating const then = fetch_rating(next.begin, next.end);
      later = fetch_sheet(step + 3);
      met = item_part(step + 1);
      alive = play(now, mine);
      now = next;
      next = after;
      mine = then;
      if (simt::sync_block_or(!alive)) return false;
      if (simt::thread_rank() == 0) {
        // Release: the barrier hands this thread what the block wrote.
        simt::fence_device();  // sabotage: factor-part-release
        simt::store_relaxed(turns, turn + 1);
      }
    }
    for_users([&](share& row, std::uint32_t p) { row = rows_[p * size + lanes_.lane()]; });
    return true;
  }

  /// Waits until `look()` is `turn`. False once a wait was given up, this one or another.
  template <class Look>
  WARDEN_DEVICE bool wait_for(std::uint32_t const* word, std::uint32_t of, bool is_row,
                              std::uint32_t turn, Look look) const {
    // A turn comes within microseconds as a rule, and a pause would be a part of each wait.
    unsigned eager = simt::has_registers ? 64 : 1;
    std::uint32_t looks = 0;
    std::uint64_t since = 0;
    return simt::wait_until(
        [&] {
          do {
            if (look() == turn) return true;  // sabotage: factor-turn-early
          } while (eager != 0 && --eager != 0);
          return false;
        },
        [&] {
          if (simt::load_relaxed(&a_.control->failed) != 0) return false;
          std::uint64_t const now = simt::nanoseconds();
          if (looks++ == 0) since = now;
          if (now - since < a_.limit.nanoseconds || looks < a_.limit.minimum_looks) return true;
          give_up(a_.control, {part_, of, is_row ? 1u : 0u, turn, look()});
          return false;
        },
        [&](auto watch) { watch(word); });
  }
  /// By value: what a function is given by address lies in local memory everywhere.
  WARDEN_COLD static void give_up(rounds_control* control, failed_turn first) {
    if (simt::compare_exchange(&control->failed, 0u, 1u) == 0) control->first = first;
  }

  /// What a player does in one step: some ratings of one item, which the first lanes have.
  struct batch {
    placed_rating mine;
    std::uint32_t at, n;
  };
  static constexpr unsigned most = placed_rating::most_of_batch;
  static_assert(most <= size);

  /// Of the lane's rating.
  static WARDEN_DEVICE std::uint32_t place(batch const& b) {
    return b.mine.bits % placed_rating::most_places;
  }
  static WARDEN_DEVICE std::uint32_t row_turn(batch const& b) {
    return (b.mine.bits >> placed_rating::place_bits) % placed_rating::most_turns;
  }
  /// Each lane one of the next ratings.
  WARDEN_DEVICE placed_rating fetch_rating(std::uint32_t at, std::uint32_t end) const {
    placed_rating r{0, 0};
    if (at + lanes_.lane() < end) r = a_.ratings[at + lanes_.lane()];
    return r;
  }
  /// A player's next ratings: twice as many as lanes. They are fetched seldom, as a fence waits for
  /// what is under way.
  struct window {
    std::uint32_t base, end;  ///< the first one's number, and behind all of the player's
    placed_rating mine, later;
  };
  /// The batch from `at` on; none at the end.
  WARDEN_DEVICE batch batch_at(window& w, std::uint32_t at) const {
    if (at - w.base >= size) {
      w.base += size;
      w.mine = w.later;
      w.later = fetch_rating(w.base + size, w.end);
    }
    unsigned const k = at - w.base + lanes_.lane() % most;
    placed_rating const mine{lanes_.shuffle(w.mine.bits, k), lanes_.shuffle(w.mine.value, k)};
    placed_rating const later{lanes_.shuffle(w.later.bits, k), lanes_.shuffle(w.later.value, k)};
    placed_rating const own = k < size ? mine : later;
    std::uint32_t const behind =
        lanes_.shuffle(own.bits, 0) >> (placed_rating::place_bits + placed_rating::turn_bits);
    return {own, at, at < w.end ? behind + 1 : 0};
  }
  /// Whether it is the turn of all its ratings.
  WARDEN_DEVICE bool is_turn(batch const& b) const {
    return lanes_.all(lanes_.lane() >= b.n || simt::shared_load(turns_[place(b)]) == row_turn(b));
  }
  /// False once a wait was given up.
  WARDEN_DEVICE bool wait_for(batch const& b) const {
    bool alive = true;
    if (lanes_.lane() < b.n) {
      std::uint32_t const& word = turns_[place(b)];
      alive = wait_for(&word, place(b), true, row_turn(b), [&] { return simt::shared_load(word); });
    }
    return !lanes_.any(!alive);
  }
  /// The rows of a batch's users, whose turn it is.
  WARDEN_DEVICE void enter(batch const& b, share (&rows)[most]) const {
    // Acquire: who had the rows before fenced between writing them and the turns. Each lane has
    // seen one of these; the barrier hands it to the others.
    simt::fence_block();  // sabotage: factor-row-acquire
    lanes_.sync();
    WARDEN_UNROLL
    for (unsigned k = 0; k < most; ++k) {
      std::uint32_t const at = lanes_.shuffle(place(b), k) * size;
      if (k >= b.n) continue;
      simt::group_enter(lanes_.mask(), &rows_[at]);
      rows[k] = rows_[at + lanes_.lane()];
    }
  }
  /// Gives them back, and the next ones their turn.
  WARDEN_DEVICE void leave(batch const& b, share const (&rows)[most]) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < most; ++k) {
      std::uint32_t const at = lanes_.shuffle(place(b), k) * size;
      if (k >= b.n) continue;
      rows_[at + lanes_.lane()] = rows[k];
      simt::group_leave(lanes_.mask(), &rows_[at]);
    }
    lanes_.sync();
    if (lanes_.lane() >= b.n) return;
    // Release, for the lanes of the group, whose writes the barrier has handed to this one.
    simt::fence_block();  // sabotage: factor-row-release
    simt::shared_store(turns_[place(b)], row_turn(b) + 1);
  }
  WARDEN_DEVICE void make_steps(batch const& b, share (&rows)[most], share& q) const {
    float values[most];
    WARDEN_UNROLL
    for (unsigned k = 0; k < most; ++k) values[k] = lanes_.shuffle(b.mine.value, k);
    if (b.n == most) {
      a_.step.together(lanes_, rows, q, values);
      return;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k + 1 < most; ++k)
      if (k < b.n) a_.step.once(lanes_, rows[k], q, values[k]);
  }

  /// A player's item.
  struct item_hand {
    std::uint32_t run, end;  ///< behind it, of runs and of ratings
    std::uint32_t item;
    share q;  ///< its row
  };
  WARDEN_DEVICE item_hand fetch_item(std::uint32_t run) const {
    std::uint32_t const item = a_.runs[run].item;
    return {run + 1, a_.runs[run + 1].begin, item, *item_row(item)};
  }

  /// One player's part of a game; `mine` are his first ratings, a lane each. False once a wait was
  /// given up.
  WARDEN_DEVICE bool play(opening const& o, placed_rating mine) const {
    if (o.begin == o.end) return true;
    item_hand now{o.run + 1, o.run_end, o.item, *item_row(o.item)}, next = now;
    if (now.end != o.end) next = fetch_item(now.run);
    // The rows of the batch behind one are fetched, if it is their turn, while that waits for its
    // sums.
    window w{o.begin, o.end, mine, fetch_rating(o.begin + size, o.end)};
    batch b = batch_at(w, o.begin);
    share rows[most];
    bool has_rows = false;
    simt::group_enter(lanes_.mask(), a_.items + std::size_t{now.item} * Rank);
    for (;;) {
      if (!has_rows) {
        // Nobody waits with a row in hand.
        if (!wait_for(b)) return false;
        enter(b, rows);
      }
      batch const c = batch_at(w, b.at + b.n);
      share next_rows[most];
      has_rows = is_turn(c);
      if (has_rows) enter(c, next_rows);
      make_steps(b, rows, now.q);
      leave(b, rows);
      if (c.at == now.end) {
        *item_row(now.item) = now.q;
        simt::group_leave(lanes_.mask(), a_.items + std::size_t{now.item} * Rank);
        if (c.at == o.end) return true;
        now = next;
        simt::group_enter(lanes_.mask(), a_.items + std::size_t{now.item} * Rank);
        if (now.end != o.end) next = fetch_item(now.run);
      }
      b = c;
      WARDEN_UNROLL
      for (unsigned k = 0; k < most; ++k) rows[k] = next_rows[k];
    }
  }

  rounds_arguments<Step> const& a_;
  row_lanes<Rank> lanes_;
  simt::shared_span<share> rows_;           ///< [place * lanes + lane]
  simt::shared_span<std::uint32_t> turns_;  ///< [place] of the game so far; and the next part
  std::uint32_t part_ = 0;                  ///< of users
};

}  // namespace factorization
