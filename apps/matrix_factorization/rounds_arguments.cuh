// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arguments and shared state of the blocks of an epoch in rounds, and how they wait for turns.
#pragma once

#include "apps/matrix_factorization/tile_pairs.hpp"

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

namespace factorization {

namespace simt = warden::simt;

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

/// Shared state of the blocks of an epoch, in device memory; zeroed before it.
struct rounds_control {
  std::uint32_t next_part;  ///< next part of users
  std::uint32_t failed;     ///< 1 if a wait was given up
  failed_turn first;        ///< the one; only the host reads it, after the launch
};

template <class Step>
struct rounds_arguments {
  float *users, *items;
  // The plan, in device memory.
  std::uint32_t const *user_of, *shifts;
  std::uint32_t const *begins, *frees;
  item_run const* runs;
  placed_rating const* ratings;
  std::uint32_t user_parts, item_parts, part_size;
  rounds_control* control;
  std::uint32_t* turns;  ///< [part of items] tile pairs that it has played; zeroed before
  turn_limit limit;
  Step step;
};

/// By value: what a function is given by address lies in local memory everywhere.
WARDEN_COLD void give_up(rounds_control* control, failed_turn first) {
  if (simt::compare_exchange(&control->failed, 0u, 1u) == 0) control->first = first;
}

/// Waits until `look()` is the turn that `wanted` says, which is found in `word`. False once a wait
/// was given up, this one or another.
template <class Step, class Look>
WARDEN_DEVICE bool wait_for_turn(rounds_arguments<Step> const& a, std::uint32_t const* word,
                                 failed_turn wanted, Look look) {
  // A turn comes within microseconds as a rule, and a long pause would be a part of each wait. With
  // none at all waiting threads take the multiprocessor's time from working ones.
  unsigned eager = simt::has_registers ? 64 : 1;
  std::uint32_t looks = 0;
  std::uint64_t since = 0;
  return simt::wait_until(
      [&] {
        for (;;) {
          if (look() == wanted.turn) return true;  // mutation: factor-turn-early
          if (eager <= 1) return false;
          --eager;
          simt::back_off(0);
        }
      },
      [&] {
        if (simt::load_relaxed(&a.control->failed) != 0) return false;
        std::uint64_t const now = simt::nanoseconds();
        if (looks++ == 0) since = now;
        if (now - since < a.limit.nanoseconds || looks < a.limit.minimum_looks) return true;
        wanted.found = look();
        give_up(a.control, wanted);
        return false;
      },
      [&](auto watch) { watch(word); });
}

}  // namespace factorization
