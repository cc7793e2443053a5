// SPDX-License-Identifier: Apache-2.0
/// @file
/// An epoch in rounds: a block holds the rows of a part of the users on its chip and meets one part
/// of the items after another.
///
/// As many blocks as there are parts of items run side by side. In step s of its part of the users,
/// the block whose part has the number b modulo that meets the part b + s of the items: a Latin
/// square. So no two blocks have one part of the items at a time, all users begin with different
/// items, and blocks wait for nobody but the one before whom each part of the items was.
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
  std::uint32_t const* user_of;
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
  WARDEN_DEVICE std::uint32_t item_part(std::uint32_t step) const {
    std::uint32_t const i = part_ % a_.item_parts + step;
    return i < a_.item_parts ? i : i - a_.item_parts;
  }
  /// What a step needs of the plan is fetched in three steps before it, as each needs the one
  /// before: nothing of that is then waited for.
  WARDEN_DEVICE sheet fetch_sheet(std::uint32_t step) const {
    if (step >= a_.item_parts) return {0, 0};
    std::size_t const game = std::size_t{part_} * a_.item_parts + item_part(step);
    std::uint32_t const* const at = a_.begins + game * players + player();
    return {at[0], at[1]};
  }
  WARDEN_DEVICE opening fetch_opening(sheet const& s) const {
    item_run const first = a_.runs[s.run];
    return {s.run, first.item, first.begin,
            s.run == s.end_run ? first.begin : a_.runs[s.run + 1].begin, a_.runs[s.end_run].begin};
  }
  /// Each lane one of the next ratings.
  WARDEN_DEVICE placed_rating fetch_rating(std::uint32_t at, std::uint32_t end) const {
    placed_rating r{0, 0};
    if (at + lanes_.lane() < end) r = a_.ratings[at + lanes_.lane()];
    return r;
  }
  WARDEN_DEVICE share* item_row(std::uint32_t item) const {
    return share_of<Rank>(a_.items, item, lanes_.lane());
  }
  static WARDEN_DEVICE std::uint32_t place_of(std::uint32_t user) {
    return user % placed_rating::most_places;
  }
  WARDEN_DEVICE share& user_row(std::uint32_t user) const {
    return rows_[place_of(user) * size + lanes_.lane()];
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
    for_users([&](share& row, std::uint32_t p) { user_row(p) = row; });
    opening now = fetch_opening(sheets[0]), next = fetch_opening(sheets[1]);
    sheet later = fetch_sheet(2);
    placed_rating mine = fetch_rating(now.begin, now.end);
    for (std::uint32_t step = 0; step < a_.item_parts; ++step) {
      std::uint32_t* const turns = a_.turns + item_part(step);
      std::uint32_t const turn = turn_of(step);
      for (std::uint32_t p = simt::thread_rank(); p < a_.part_size; p += Threads)
        simt::shared_store(turns_[p], 0u);
      bool alive = true;
      if (simt::thread_rank() == 0) {
        alive = wait_for(turns, item_part(step), false, turn,
                         [&] { return simt::load_relaxed(turns); });
        // Acquire: who had the part before fenced between what its block wrote and the turn; the
        // barrier hands it to the block.
        simt::fence_device();  // sabotage: factor-part-acquire
      }
      if (simt::sync_block_or(!alive)) return false;
      opening const after = fetch_opening(later);
      placed_rating const then = fetch_rating(next.begin, next.end);
      later = fetch_sheet(step + 3);
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
    for_users([&](share& row, std::uint32_t p) { row = user_row(p); });
    return true;
  }

  /// Games that the part of the items of that step has played before: with all parts of users of
  /// the waves before, and with those of this wave that met it in earlier steps, which are those
  /// behind this one. The last wave may not have all parts.
  WARDEN_DEVICE std::uint32_t turn_of(std::uint32_t step) const {
    std::uint32_t const n = a_.item_parts, before = part_ - part_ % n;
    std::uint32_t const present = a_.user_parts - before < n ? a_.user_parts - before : n;
    std::uint32_t const first = part_ % n + 1, last = part_ % n + step;  // modulo n
    auto const among = [&](std::uint32_t from, std::uint32_t to) {
      std::uint32_t const end = to + 1 < present ? to + 1 : present;
      return end > from ? end - from : 0;
    };
    if (step == 0) return before;
    return before + (last < n ? among(first, last) : among(first, n - 1) + among(0, last - n));
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

  /// Whether it is the rating's turn.
  WARDEN_DEVICE bool is_turn(std::uint32_t user) const {
    return simt::shared_load(turns_[place_of(user)]) == user / placed_rating::most_places;
  }
  /// The row of a user, once it is the rating's turn. False once a wait was given up.
  WARDEN_DEVICE bool wait_for_row(std::uint32_t user, share& row) const {
    bool alive = true;
    std::uint32_t const& word = turns_[place_of(user)];
    if (lanes_.lane() == 0) {
      alive = wait_for(&word, place_of(user), true, user / placed_rating::most_places,
                       [&] { return simt::shared_load(word); });
    }
    if (lanes_.any(!alive)) return false;
    acquire();
    enter(user, row);
    return true;
  }
  /// A lane has seen whose turn it is, or each of them.
  WARDEN_DEVICE void acquire() const {
    // Who had the rows before fenced between writing them and the turns.
    simt::fence_block();  // sabotage: factor-row-acquire
    lanes_.sync();
  }
  WARDEN_DEVICE void enter(std::uint32_t user, share& row) const {
    simt::group_enter(lanes_.mask(), &rows_[place_of(user) * size]);
    row = user_row(user);
  }
  WARDEN_DEVICE void leave(std::uint32_t user, share const& row) const {
    user_row(user) = row;
    simt::group_leave(lanes_.mask(), &rows_[place_of(user) * size]);
  }
  /// The next one has the row's turn. Behind a barrier of the group; one lane.
  WARDEN_DEVICE void hand_on(std::uint32_t user) const {
    // Release, for the lanes of the group, whose writes the barrier has handed to this one.
    simt::fence_block();  // sabotage: factor-row-release
    simt::shared_store(turns_[place_of(user)], user / placed_rating::most_places + 1);
  }

  /// How far a player is in a game.
  struct hand {
    std::uint32_t at, end;       ///< the next rating, and behind the last one
    std::uint32_t base;          ///< the rating that lane 0 has
    placed_rating mine, later;   ///< of this lane: from `base` on, and those behind
    std::uint32_t run, run_end;  ///< that the rating is in
    std::uint32_t item, next_item, next_run_end;
    share q, next_q;  ///< those items' rows
  };
  WARDEN_DEVICE void advance(hand& h, unsigned ratings) const {
    h.at += ratings;
    if (h.at - h.base != size) return;
    h.base = h.at;
    h.mine = h.later;
    h.later = fetch_rating(h.base + size, h.end);
  }
  /// Takes the row of the run's item, which is there already, and fetches that of the next run's.
  WARDEN_DEVICE void begin_run(hand& h) const {
    h.item = h.next_item;
    h.run_end = h.next_run_end;
    h.q = h.next_q;
    simt::group_enter(lanes_.mask(), a_.items + std::size_t{h.item} * Rank);
    if (h.run_end == h.end) return;
    ++h.run;
    h.next_item = a_.runs[h.run].item;
    h.next_run_end = a_.runs[h.run + 1].begin;
    h.next_q = *item_row(h.next_item);
  }
  WARDEN_DEVICE void end_run(hand& h) const {
    *item_row(h.item) = h.q;
    simt::group_leave(lanes_.mask(), a_.items + std::size_t{h.item} * Rank);
  }

  /// Steps that are made together.
  static constexpr unsigned at_once = 4;
  static_assert(size % at_once == 0);
  /// Whether the `at_once` ratings from number k of `from` on are of the run and have their turns.
  WARDEN_DEVICE bool are_ready(hand const& h, unsigned ahead, placed_rating const& from) const {
    unsigned const k = (h.at - h.base + ahead) % size;
    std::uint32_t const user = lanes_.shuffle(from.user, k + lanes_.lane() % at_once);
    return lanes_.all(h.at + ahead + at_once <= h.run_end && is_turn(user));
  }
  /// Steps of a run, four together, as long as the next four can be had: theirs are fetched while
  /// these wait for their sums. `p` is the first one's row.
  WARDEN_DEVICE void play_together(hand& h, share const& p) const {
    share rows[at_once];
    std::uint32_t users[at_once];
    rows[0] = p;
    acquire();
    WARDEN_UNROLL
    for (unsigned j = 0; j < at_once; ++j) {
      users[j] = lanes_.shuffle(h.mine.user, h.at - h.base + j);
      if (j != 0) enter(users[j], rows[j]);
    }
    for (bool more = true; more;) {
      unsigned const k = h.at - h.base;
      float values[at_once];
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) values[j] = lanes_.shuffle(h.mine.value, k + j);
      placed_rating const from = k + at_once < size ? h.mine : h.later;
      more = are_ready(h, at_once, from);
      share next_rows[at_once];
      std::uint32_t next_users[at_once];
      if (more) acquire();
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        next_users[j] = lanes_.shuffle(from.user, (k + at_once + j) % size);
        if (more) enter(next_users[j], next_rows[j]);
      }
      a_.step.together(lanes_, rows, h.q, values);
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) leave(users[j], rows[j]);
      lanes_.sync();
      std::uint32_t const one = lanes_.shuffle(h.mine.user, k + lanes_.lane() % at_once);
      if (lanes_.lane() < at_once) hand_on(one);
      advance(h, at_once);
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        rows[j] = next_rows[j];
        users[j] = next_users[j];
      }
    }
  }
  /// One player's part of a game; `mine` are his first ratings, a lane each. False once a wait was
  /// given up.
  WARDEN_DEVICE bool play(opening const& o, placed_rating mine) const {
    if (o.begin == o.end) return true;
    hand h{o.begin,
           o.end,
           o.begin,
           mine,
           fetch_rating(o.begin + size, o.end),
           o.run,
           o.begin,
           o.item,
           o.item,
           o.run_end,
           {},
           *item_row(o.item)};
    share p;
    bool has_row = false;
    for (std::uint32_t user = 0;;) {
      if (h.at == h.run_end) begin_run(h);
      if (!has_row) {
        // Nobody waits with a row in hand.
        user = lanes_.shuffle(h.mine.user, h.at - h.base);
        if (!wait_for_row(user, p)) return false;
      }
      unsigned const k = h.at - h.base;
      if (k % at_once == 0 && are_ready(h, 0, h.mine)) {
        play_together(h, p);
        has_row = false;
      } else {
        float const value = lanes_.shuffle(h.mine.value, k);
        // The next row is fetched, if it is its turn, while this step waits for its sum.
        std::uint32_t const next_user = lanes_.shuffle(h.mine.user, k + 1);
        bool const is_there = h.at + 1 < h.end && k + 1 < size;
        has_row = lanes_.all(is_there && is_turn(next_user));
        share next;
        if (has_row) {
          acquire();
          enter(next_user, next);
        }
        a_.step.once(lanes_, p, h.q, value);
        leave(user, p);
        lanes_.sync();
        if (lanes_.lane() == 0) hand_on(user);
        advance(h, 1);
        p = next;
        user = next_user;
      }
      if (h.at == h.run_end) end_run(h);
      if (h.at == h.end) return true;
    }
  }

  rounds_arguments<Step> const& a_;
  row_lanes<Rank> lanes_;
  simt::shared_span<share> rows_;           ///< [place * lanes + lane]
  simt::shared_span<std::uint32_t> turns_;  ///< [place] of the game so far; and the next part
  std::uint32_t part_ = 0;                  ///< of users
};

}  // namespace factorization
