// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections on two records under two global locks: as written [Wang 2020, listing 4.3], and tuned
/// like locks of one record.
#pragma once

#include <warden/detail/baseline/lock_array.cuh>
#include <warden/detail/baseline/lock_as_written.cuh>
#include <warden/detail/baseline/lock_tuned.cuh>
#include <warden/detail/baseline/work.cuh>
#include <warden/detail/block/match_group.cuh>
#include <warden/section.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// Order in which a thread takes two locks. Neither can deadlock: a thread that holds one lock and
/// tries to take another tries that of a higher record.
enum class two_locks {
  in_order,     ///< keeps the lower record's lock while it waits for the higher one's
  all_or_none,  ///< gives the lower one's back if it does not get the higher one's at once
};

/// Operation i, for i < n, is the section `make(i)` on the records `firsts[i]` and `seconds[i]`,
/// which may be one. All pointers are device memory. For lock_as_written_async, lock_tuned_async
/// and tune_locks.
template <two_locks Protocol, class Record, class Make, class Context,
          class Ids = std::uint32_t const*>
struct pair_work {
  Record* records;            ///< all records
  Ids firsts;                 ///< `n` record ids, unchecked; an array, or an object with operator[]
  Ids seconds;                ///< `n` record ids, unchecked; an array, or an object with operator[]
  std::uint32_t n;            ///< operations
  Make make;                  ///< `Section make(std::uint32_t i)`, on the device, once or more
  Context context;            ///< context of every section
  std::uint32_t spread_log2;  ///< record `id` has the lock `id << spread_log2`

  /// Lower and higher lock of an operation.
  struct lock_pair {
    std::uint32_t low;   ///< lock of the lower record
    std::uint32_t high;  ///< lock of the higher record
    /// Returns true if both locks are of one record.
    WARDEN_DEVICE bool is_one() const { return low == high; }
  };
  /// Returns the locks of operation `i`.
  WARDEN_DEVICE lock_pair locks_of(std::uint32_t i) const {
    std::uint32_t const a = firsts[i], b = seconds[i];
    return {(a < b ? a : b) << spread_log2, (a < b ? b : a) << spread_log2};
  }
  /// Returns the state of a wait for one of the locks.
  WARDEN_DEVICE lock_wait wait_for(lock_array_ref const& locks, std::uint32_t lock) const {
    return locks.wait(lock >> spread_log2);
  }
  /// Runs operation `i`. Precondition: the caller holds the locks.
  WARDEN_DEVICE void run(std::uint32_t i) const {
    auto& first = records[firsts[i]];
    auto& second = records[seconds[i]];
    simt::section_enter(&first);
    if (&first != &second) simt::section_enter(&second);
    run_section(make(i), first, second, context);
    if (&first != &second) simt::section_leave(&second);
    simt::section_leave(&first);
  }
};

/// Runs one thread's operation under its two locks. All of it is inside the loop, so that lanes of
/// a warp that wait for one another make progress. Returns false if the launch is poisoned.
template <two_locks Protocol, bool BackOff, class Work>
WARDEN_DEVICE bool run_under_two_locks(Work const& work, lock_array_ref const& locks,
                                       std::uint32_t i, std::uint32_t name) {
  auto const wanted = work.locks_of(i);
  lock_wait wait_low = work.wait_for(locks, wanted.low);
  lock_wait wait_high = work.wait_for(locks, wanted.high);
  bool has_low = false;
  for (unsigned failed = 0;; ++failed) {
    if (!has_low) {
      std::uint32_t const holder = locks.try_take(wanted.low, name);
      has_low = holder == 0;
      if (!has_low && !wait_low.hopeful(holder)) return false;
    }
    if (has_low) {
      std::uint32_t const holder = wanted.is_one() ? 0 : locks.try_take(wanted.high, name);
      if (holder == 0) {
        locks.acquire();
        work.run(i);
        locks.unlock(wanted.low, wanted.high);
        return true;
      }
      if constexpr (Protocol == two_locks::all_or_none) {
        locks.give_back(wanted.low);
        has_low = false;
        name = locks.next_name(name);
      }
      if (!wait_high.hopeful(holder)) return false;
    }
    // A thread that holds a lock does not sleep.
    if constexpr (BackOff) {
      if (!has_low) simt::back_off(failed);
    }
  }
}

/// Locks two records as [Wang 2020, listing 4.3]: the lower one's lock first, one attempt for each
/// in an iteration. Returns false if the launch is poisoned.
template <two_locks Protocol, class Record, class Make, class Context, class Ids>
WARDEN_DEVICE bool lock_as_written(pair_work<Protocol, Record, Make, Context, Ids> const& all,
                                   lock_array_ref const& locks, std::uint32_t i,
                                   std::uint32_t name) {
  return run_under_two_locks<two_locks::in_order, false>(all, locks, i, name);
}

/// Runs one operation on two records by tuned locks.
template <class Settings, two_locks Protocol, class Record, class Make, class Context, class Ids>
struct lock_tuned<Settings, pair_work<Protocol, Record, Make, Context, Ids>> {
  /// Type of the work.
  using work_type = pair_work<Protocol, Record, Make, Context, Ids>;

  /// Runs one lane's operation. Returns false if the launch is poisoned.
  WARDEN_DEVICE static bool run_alone(work_type const& work, lock_array_ref const& locks,
                                      std::uint32_t i, std::uint32_t name) {
    return run_under_two_locks<Protocol, Settings::back_off>(work, locks, i, name);
  }

  /// Runs the operations of a whole warp; `valid` is true in lanes that have one. Lanes with the
  /// same lower lock elect one that takes it. Under it each lane tries to take its higher lock, and
  /// lanes that hold theirs run one after another. Collective over the warp.
  WARDEN_DEVICE static bool run_grouped(work_type const& work, lock_array_ref const& locks,
                                        std::uint32_t i, bool valid, std::uint32_t name) {
    unsigned const me = simt::lane_id();
    typename work_type::lock_pair wanted{0, 0};
    if (valid) wanted = work.locks_of(i);
    auto const group =
        detail::match_group::of(valid ? std::uint64_t{wanted.low} : (std::uint64_t{1} << 32) + me);
    lock_wait wait_low = work.wait_for(locks, wanted.low);
    lock_wait wait_high = work.wait_for(locks, wanted.high);
    bool waiting = valid, alive = true;
    bool holds = false;  // for a leader: it holds the group's lower lock
    unsigned left = valid ? group.lanes : 0;
    for (unsigned failed = 0; simt::any(simt::full_warp, waiting); ++failed) {
      if (me == group.leader && left != 0 && !holds) {
        std::uint32_t const holder = locks.try_lock(wanted.low, name);
        holds = holder == 0;
        if (!holds) alive = wait_low.hopeful(holder);
      }
      // Hands the leader's acquisition to the group.
      unsigned const held_by = simt::ballot(simt::full_warp, holds);
      simt::sync_warp(simt::full_warp);
      bool has_both = false;
      if (waiting && (held_by >> group.leader & 1u) != 0) {
        std::uint32_t const holder = wanted.is_one() ? 0 : locks.try_lock(wanted.high, name);
        has_both = holder == 0;
        if (!has_both) alive = wait_high.hopeful(holder) && alive;
      }
      unsigned const ready = simt::ballot(simt::full_warp, has_both);
      detail::take_turns(has_both, detail::match_group::turn_among(ready & group.lanes),
                         [&] { work.run(i); });
      simt::sync_warp(simt::full_warp);
      if (has_both && !wanted.is_one()) locks.unlock(wanted.high);
      waiting = waiting && !has_both;
      left = simt::ballot(simt::full_warp, waiting) & group.lanes;
      if (holds && (Protocol == two_locks::all_or_none || left == 0)) {
        locks.unlock(wanted.low);
        holds = false;
        name = locks.next_name(name);
      }
      if (simt::any(simt::full_warp, !alive)) return false;
      if constexpr (Settings::back_off) {
        if (ready == 0 && !simt::any(simt::full_warp, holds)) simt::back_off(failed);
      }
    }
    return true;
  }
};

/// A choice at run time: locking, and the distance between locks.
struct pair_lock_choice {
  lock_choice how;                ///< choice for one lock
  std::uint32_t spread_log2 = 0;  ///< a lock every 2^spread_log2 words; 0: packed
};
/// Returns a text for tables and logs, such as "grouped back-off 132x256, locks 32 bytes apart".
inline std::string to_string(pair_lock_choice const& c) {
  return to_string(c.how) +
         (c.spread_log2 == 0 ? ""
                             : ", locks " + std::to_string(4u << c.spread_log2) + " bytes apart");
}
/// Words that a lock_array needs for each record, for any choice.
inline constexpr std::uint32_t most_words_for_a_lock = 32;

/// Returns the best choice for a sample of the work. First tunes as tune_locks does, with packed
/// locks. Then tunes the distance of the locks: packed, each in a 32-byte sector of its own, or
/// each in a cache line. Precondition: `locks` has most_words_for_a_lock words for each record.
template <class Work>
pair_lock_choice tune_pair_locks(Work sample, lock_array& locks, stream_ref s = {}) {
  sample.spread_log2 = 0;
  pair_lock_choice best{tune_locks(sample, locks, s)};
  // The simulated device has no time by which to compare distances.
  if (runtime::facts(runtime::current_device()).simulated) return best;
  timer clock;
  auto const seconds = [&](std::uint32_t spread_log2, std::uint32_t n) {
    Work part = sample;
    part.spread_log2 = spread_log2;
    part.n = n;
    clock.start(s);
    lock_tuned_async(part, locks, best.how, s);
    clock.stop(s);
    double const result = clock.result().seconds;
    locks.wait(s);
    return result;
  };
  constexpr double long_enough = 2e-3;
  std::uint32_t n = std::min(sample.n, 512u);
  while (n < sample.n && seconds(0, n) < long_enough) n = std::min(sample.n, 8 * n);
  constexpr unsigned repetitions = 5;
  constexpr std::array<std::uint32_t, 3> spreads{0, 3, 5};
  std::array<std::vector<double>, spreads.size()> times;
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t k = 0; k < spreads.size(); ++k) times[k].push_back(seconds(spreads[k], n));
  }
  std::size_t fastest = 0;
  for (std::size_t k = 0; k < spreads.size(); ++k) {
    std::sort(times[k].begin(), times[k].end());
    if (times[k][repetitions / 2] < times[fastest][repetitions / 2]) fastest = k;
  }
  best.spread_log2 = spreads[fastest];
  return best;
}

}  // namespace baseline
WARDEN_NAMESPACE_END
