// SPDX-License-Identifier: Apache-2.0
/// @file
/// The `locks` executor: a server's threads run their sections under a table of locks in shared
/// memory (papers/002, listing 4.2), with few contenders for each lock.
#pragma once

#include <warden/lock_table.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
/// How servers run the sections they received; a policy names one.
namespace executor {

/// `Count` locks a server. Lanes of a warp whose records share a lock form a group: one lane tries
/// for the lock, and under it the group's sections run one after another.
template <unsigned Count = 4096>
struct locks {
  /// The locks it is run with.
  using table = lock_table<Count>;
  /// Bytes of shared memory.
  static constexpr std::size_t shared_bytes = Count * sizeof(std::uint32_t);

  /// Rounds without any lock before a warp waits politely.
  static constexpr unsigned tries_before_wait = 8;

  /// Collective over a warp. Runs `section()` in every lane with `active`, never two at a time for
  /// one lock; `wait_for(lock)` waits politely until a lock looks free, and is false once poisoned.
  /// Adds failed tries to `retries`. False if the launch was poisoned before all sections ran.
  template <class Section, class WaitFor>
  WARDEN_DEVICE static bool run(table locks, std::uint32_t local, bool active, Section section,
                                WaitFor wait_for, std::uint32_t& retries) {
    unsigned const me = simt::lane_id();
    unsigned const lock = table::lock_of(local);
    // Idle lanes get a value of their own, beyond every lock.
    unsigned const group = simt::match_any(simt::full_warp, active ? lock : (0x80000000u | me));
    unsigned const leader = static_cast<unsigned>(simt::first_bit(group));
    int const turn_of_me = simt::count_bits(group & ((1u << me) - 1));
    bool waiting = active;
    unsigned fruitless = 0;
    while (true) {
      bool const tries = waiting && me == leader;
      bool const taken = tries && locks.try_lock(lock);
      unsigned const taken_by = simt::ballot(simt::full_warp, taken);
      bool const ours = waiting && (taken_by >> leader & 1u) != 0;
      if (taken_by != 0) {
        // The barrier hands the leader's acquisition, and then each lane's writes, to the next
        // lane.
        for (int turn = 0; simt::any(simt::full_warp, ours && turn_of_me >= turn); ++turn) {
          simt::sync_warp(simt::full_warp);
          if (ours && turn_of_me == turn) section();
        }
        // Release: the barrier hands the lanes' writes to the leader, whose fence comes before its
        // unlock.
        simt::sync_warp(simt::full_warp);
        if (taken) {
          simt::fence_block();
          locks.unlock(lock);
        }
        waiting = waiting && !ours;
      }
      // No lock is held here: a warp never waits for one lock while it holds another.
      unsigned const left = simt::ballot(simt::full_warp, waiting && me == leader);
      if (left == 0) return true;
      if (tries && !taken) ++retries;
      // Sections are short: most locks are free again before a polite wait would end.
      if (taken_by == 0 && ++fruitless % tries_before_wait == 0) {
        bool const hopeful = me != static_cast<unsigned>(simt::first_bit(left)) || wait_for(lock);
        if (!simt::ballot(simt::full_warp, !hopeful)) continue;
        return false;
      }
    }
  }
};

}  // namespace executor
WARDEN_NAMESPACE_END
