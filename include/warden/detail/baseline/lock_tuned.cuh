// SPDX-License-Identifier: Apache-2.0
/// @file
/// Global locks, tuned: grid, back-off and the way in which lanes of a warp share a lock are chosen
/// by measurements on a sample of the work.
#pragma once

#include <warden/detail/baseline/lock_array.cuh>
#include <warden/detail/baseline/lock_as_written.cuh>
#include <warden/detail/baseline/work.cuh>
#include <warden/detail/block/match_group.cuh>
#include <warden/section.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// Ways in which the lanes of a warp take their locks.
enum class lanes {
  independent,  ///< each lane loops for itself, as written
  serialized,   ///< one lane after another: no two lanes of a warp contend
  grouped,      ///< lanes with the same lock elect one that takes it, and run under it one after
                ///< another
};

/// Settings compiled into the kernel.
template <lanes Lanes, bool BackOff>
struct lock_settings {
  /// Way in which the lanes of a warp take their locks.
  static constexpr lanes how = Lanes;
  /// True: after each failed attempt, sleep twice as long as after the one before.
  static constexpr bool back_off = BackOff;
};

/// A choice at run time: settings and a grid.
struct lock_choice {
  lanes how = lanes::independent;  ///< as in lock_settings
  bool back_off = false;           ///< as in lock_settings
  unsigned blocks = 0;             ///< 0: full occupancy
  unsigned threads = 256;          ///< threads of a block; a multiple of 32
};
/// Returns a text for tables and logs, such as "grouped back-off 132x256": blocks by threads.
inline std::string to_string(lock_choice const& c) {
  char const* const names[] = {"independent", "serialized", "grouped"};
  return std::string{names[static_cast<int>(c.how)]} + (c.back_off ? " back-off " : " ") +
         (c.blocks == 0 ? "full" : std::to_string(c.blocks)) + "x" + std::to_string(c.threads);
}

/// Runs one operation by tuned locks, in the ways of `lanes`. Specialized for other work.
template <class Settings, class Work>
struct lock_tuned {
  /// Runs one lane's operation. Returns false if the launch is poisoned.
  WARDEN_DEVICE static bool run_alone(Work const& work, lock_array_ref const& locks,
                                      std::uint32_t i, std::uint32_t name) {
    std::uint32_t const id = work.ids[i];
    lock_wait wait = locks.wait(id);
    for (unsigned failed = 0;; ++failed) {
      std::uint32_t const holder = locks.try_lock(id, name);
      if (holder == 0) {
        run(work, id, i);
        locks.unlock(id);
        return true;
      }
      if (!wait.hopeful(holder)) return false;
      if constexpr (Settings::back_off) simt::back_off(failed);
    }
  }

  /// Runs the operations of a whole warp; `valid` is true in lanes that have one. Collective over
  /// the warp.
  WARDEN_DEVICE static bool run_grouped(Work const& work, lock_array_ref const& locks,
                                        std::uint32_t i, bool valid, std::uint32_t name) {
    unsigned const me = simt::lane_id();
    std::uint32_t const id = valid ? work.ids[i] : 0;
    // Ids are below 2^32 - 1, so idle lanes have values of their own in 64 bits.
    auto const group =
        detail::match_group::of(valid ? std::uint64_t{id} : (std::uint64_t{1} << 32) + me);
    lock_wait wait = locks.wait(id);
    bool waiting = valid;
    bool alive = true;
    for (unsigned failed = 0; simt::any(simt::full_warp, waiting); ++failed) {
      bool const tries = waiting && me == group.leader;
      std::uint32_t const holder = tries ? locks.try_lock(id, name) : 0;
      bool const taken = tries && holder == 0;
      unsigned const taken_by = simt::ballot(simt::full_warp, taken);
      bool const runs_now = waiting && (taken_by >> group.leader & 1u) != 0;
      detail::take_turns(runs_now, group.turn, [&] { run(work, id, i); });
      simt::sync_warp(simt::full_warp);
      if (taken) locks.unlock(id);
      waiting = waiting && !runs_now;
      if (tries && !taken) alive = wait.hopeful(holder);
      if (simt::any(simt::full_warp, !alive)) return false;
      if constexpr (Settings::back_off) {
        if (taken_by == 0) simt::back_off(failed);
      }
    }
    return true;
  }

  /// Runs operation `i` on record `id`. Precondition: the caller holds the lock.
  WARDEN_DEVICE static void run(Work const& work, std::uint32_t id, std::uint32_t i) {
    auto& record = work.records[id];
    simt::section_enter(&record);
    run_section(work.make(i), record, work.context);
    simt::section_leave(&record);
  }
};

/// Kernel of `lock_tuned_launch`; blocks are whole warps.
template <class Settings, class Work>
WARDEN_KERNEL void lock_tuned_kernel(lock_as_written_arguments<Work> const a) {
  simt::assume_one_dimension();
  using tuned = lock_tuned<Settings, Work>;
  std::uint32_t acquisition = 0;
  // Iterations of whole warps: every lane comes to the collectives.
  std::uint32_t const warp_first = first_operation() - simt::lane_id();
  for_each_from(warp_first, operation_step(), a.work.n, [&](std::uint32_t first) {
    // No overflow: `first` is a multiple of 32.
    std::uint32_t const i = first + simt::lane_id();
    std::uint32_t const name = lock_array_ref::name(acquisition++);
    bool alive = true;
    if constexpr (Settings::how == lanes::grouped) {
      alive = tuned::run_grouped(a.work, a.locks, i, i < a.work.n, name);
    } else if constexpr (Settings::how == lanes::independent) {
      alive = i >= a.work.n || tuned::run_alone(a.work, a.locks, i, name);
    } else {
      for (unsigned turn = 0; turn < simt::warp_size; ++turn) {
        if (turn == simt::lane_id() && i < a.work.n)
          alive = tuned::run_alone(a.work, a.locks, i, name);
        simt::sync_warp(simt::full_warp);
      }
    }
    return !simt::any(simt::full_warp, !alive);
  });
}

/// Enqueues all of the work with settings fixed at compile time; uses only the grid of `choice`.
template <class Settings, class Work>
void lock_tuned_launch(Work const& work, lock_array const& locks, lock_choice const& choice,
                       stream_ref s) {
  auto const kernel = &lock_tuned_kernel<Settings, Work>;
  unsigned const blocks =
      choice.blocks != 0 ? choice.blocks : full_occupancy(kernel, choice.threads);
  simt::launch(kernel, blocks, choice.threads, 0, {work, locks.ref()}, s);
}

/// Returns true if the choice is the lock as written: the same kernel on the same grid.
inline bool is_as_written(lock_choice const& c) {
  return c.how == lanes::independent && !c.back_off && c.blocks == 0 && c.threads == 256;
}

/// Enqueues all of the work with the given choice; `locks.wait(s)` reports errors. Throws
/// cuda_error.
template <class Work>
void lock_tuned_async(Work const& work, lock_array const& locks, lock_choice const& choice,
                      stream_ref s = {}) {
  if (is_as_written(choice)) return lock_as_written_async(work, locks, s);
  switch (choice.how) {
    case lanes::independent:
      return choice.back_off ? lock_tuned_launch<lock_settings<lanes::independent, true>>(
                                   work, locks, choice, s)
                             : lock_tuned_launch<lock_settings<lanes::independent, false>>(
                                   work, locks, choice, s);
    case lanes::serialized:
      return choice.back_off
                 ? lock_tuned_launch<lock_settings<lanes::serialized, true>>(work, locks, choice, s)
                 : lock_tuned_launch<lock_settings<lanes::serialized, false>>(work, locks, choice,
                                                                              s);
    case lanes::grouped:
      return choice.back_off
                 ? lock_tuned_launch<lock_settings<lanes::grouped, true>>(work, locks, choice, s)
                 : lock_tuned_launch<lock_settings<lanes::grouped, false>>(work, locks, choice, s);
  }
}

/// Returns the best choice for a sample of the work, found by running it. Starts with all choices
/// on a small sample. Choices at most 4 times slower than the best are tried again on more, up to
/// the whole sample or to a few milliseconds. The last few choices then run alternately, and the
/// median decides. Another choice replaces the lock as written only if it is clearly faster.
///
/// Blocks the host. The trials change the records. On the simulated device, which has no time, the
/// choice with the fewest atomics wins. `before(s)` is called before each trial, for work that
/// depends on earlier changes of the records. Throws timeout_error and cuda_error.
template <class Work, class Before>
lock_choice tune_locks(Work const& sample, lock_array& locks, stream_ref s, Before before) {
  struct candidate {
    lock_choice choice;
    double cost;
  };
  bool const simulated = runtime::facts(runtime::current_device()).simulated;
  auto const sms = static_cast<unsigned>(runtime::facts(runtime::current_device()).multiprocessors);
  std::vector<candidate> candidates;
  for (lanes const how : {lanes::independent, lanes::serialized, lanes::grouped}) {
    for (bool const back_off : {false, true}) {
      for (unsigned const blocks : {sms, 8u, 0u, 4u, 32u, 64u, 2 * sms, 4 * sms}) {
        for (unsigned const threads : {32u, 128u, 256u}) {
          if (blocks == 0 && threads != 256) continue;
          // Simulated threads are slow, and a few show the contention of many.
          if (simulated && (blocks == 0 || blocks * threads > 256)) continue;
          candidates.push_back({{how, back_off, blocks, threads}, 0});
        }
      }
    }
  }
  timer clock;
  auto const cost_of = [&](lock_choice const& choice, std::uint32_t n) {
    Work part = sample;
    part.n = n;
    before(s);
    clock.start(s);
    lock_tuned_async(part, locks, choice, s);
    clock.stop(s);
    measurement const m = clock.result();
    locks.wait(s);
    return m.seconds > 0 ? m.seconds : static_cast<double>(m.global_atomics);
  };
  // The first sample is small, so that 100 slow choices cost little.
  std::uint32_t n = std::min(sample.n, simulated ? 256u : 512u);
  for (;; n = std::min(sample.n, n < 65536 ? 8 * n : 4 * n)) {
    double best = 1e300;
    for (candidate& c : candidates) {
      c.cost = cost_of(c.choice, n);
      // A first trial may suffer from a cold start. A choice that is far slower is not repeated.
      if (c.cost < 1.5 * best) c.cost = std::min(c.cost, cost_of(c.choice, n));
      best = std::min(best, c.cost);
    }
    bool const last = n == sample.n || (best > 2e-3 && !simulated);
    double const limit = (last ? 1.1 : n < 65536 ? 4 : 2) * best;
    std::erase_if(candidates, [&](candidate const& c) { return c.cost > limit; });
    if (last) break;
  }
  auto const cheaper = [](candidate const& a, candidate const& b) { return a.cost < b.cost; };
  std::sort(candidates.begin(), candidates.end(), cheaper);
  auto const written = [](candidate const& c) { return is_as_written(c.choice); };
  auto const as_written = std::find_if(candidates.begin(), candidates.end(), written);
  constexpr std::size_t finalists = 8;
  if (as_written != candidates.end()) std::iter_swap(candidates.begin(), as_written);
  if (candidates.size() > finalists)
    candidates.erase(candidates.begin() + finalists, candidates.end());
  constexpr unsigned repetitions = 5;
  std::vector<std::vector<double>> costs(candidates.size());
  for (unsigned repetition = 0; repetition < repetitions && !simulated; ++repetition) {
    for (std::size_t c = 0; c < candidates.size(); ++c)
      costs[c].push_back(cost_of(candidates[c].choice, n));
  }
  for (std::size_t c = 0; c < candidates.size() && !simulated; ++c) {
    std::sort(costs[c].begin(), costs[c].end());
    // The lock as written varies by a few percent between trials: less than that is no gain.
    candidates[c].cost = costs[c][repetitions / 2] * (written(candidates[c]) ? 0.97 : 1);
  }
  return std::min_element(candidates.begin(), candidates.end(), cheaper)->choice;
}
/// Returns the best choice for work whose time does not depend on the records' values.
template <class Work>
lock_choice tune_locks(Work const& sample, lock_array& locks, stream_ref s = {}) {
  return tune_locks(sample, locks, s, [](stream_ref) {});
}

}  // namespace baseline
WARDEN_NAMESPACE_END
