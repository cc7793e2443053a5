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

/// Longest wait of a group for a turn before the epoch is given up.
struct turn_limit {
  std::uint64_t nanoseconds = 10'000'000'000ull;
  /// Time alone is no proof: a preempted thread must also have looked this often.
  std::uint32_t minimum_looks = 64;
};

/// A wait that was given up.
struct failed_turn {
  std::uint32_t user_part;  ///< part of the block that waited
  std::uint32_t of;      ///< number of a part of the items, or of a place in the part of the users
  std::uint32_t is_row;  ///< 1 if `of` is a place
  std::uint32_t turn;    ///< turn that the group waited for
  std::uint32_t found;   ///< turn that it found
};

/// Shared state of the blocks of an epoch, in device memory; zeroed before it.
struct rounds_control {
  std::uint32_t next_part;  ///< next part of users
  std::uint32_t failed;     ///< 1 if a wait was given up
  failed_turn first;        ///< the first wait given up; only the host reads it, after the launch
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
  std::uint32_t* turns;  ///< [part of items] its tile pairs that are done; zeroed before the launch
  turn_limit limit;
  Step step;
};

/// Records the first wait that was given up. Takes it by value, because an object whose address is
/// passed stays in local memory in the caller.
WARDEN_COLD void give_up(rounds_control* control, failed_turn first) {
  if (simt::compare_exchange(&control->failed, 0u, 1u) == 0) control->first = first;
}

/// Waits until `look()`, which reads `word`, returns the turn of `wanted`. Returns false if this or
/// another wait was given up.
template <class Step, class Look>
WARDEN_DEVICE bool wait_for_turn(rounds_arguments<Step> const& a, std::uint32_t const* word,
                                 failed_turn wanted, Look look) {
  // A turn usually comes within microseconds, so a long pause would lengthen each wait. Without a
  // pause, waiting threads take issue slots from working threads.
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
