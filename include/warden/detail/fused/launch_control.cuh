// SPDX-License-Identifier: Apache-2.0
/// @file
/// State that the blocks of one launch share: roles, progress, and the health of each of its
/// guarded arrays.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/execute/guarded_health.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/fused/channel.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One guarded array's channels, or its rings, as the watchdog needs them.
struct channel_group {
  channel_indices const* indices;  ///< one for each server
  std::uint32_t servers;           ///< number of channels
};

/// The launch as device code sees it; part of every guarded array's ref.
struct launch_ref {
  /// Maximum of guarded arrays in one launch.
  static constexpr unsigned max_guarded_arrays = launch_counters::max_guarded_arrays;

  launch_control* control;                       ///< the first guarded array's, in global memory
  time_limit limit;                              ///< the first guarded array's
  std::uint32_t group_count;                     ///< number of groups, over all guarded arrays
  std::uint32_t client_blocks;                   ///< blocks that run virtual blocks
  std::uint32_t member_count;                    ///< number of guarded arrays
  launch_member members[max_guarded_arrays];     ///< by position
  channel_group groups[2 * max_guarded_arrays];  ///< channels, and rings if there are any

  /// Returns true if the launch was stopped.
  WARDEN_DEVICE bool poisoned() const { return is_poisoned(&control->health); }

  /// Returns true if a guarded array has a failure to report. Called by one thread of each block at
  /// its start. Nothing may run then, and all guarded arrays of the launch are told, unless the
  /// failure is this launch's own.
  WARDEN_DEVICE bool refused() const {
    auto const healthy = [&](std::uint32_t m) { return !is_poisoned(&members[m].control->health); };
    std::uint32_t failed = 0;
    while (failed < member_count && healthy(failed)) ++failed;  // mutation: health-start
    if (failed == member_count) return false;
    // Acquire: if a thread of this launch has set the word read above, this thread sees `stopped`.
    simt::fence_device();
    if (simt::exchange(&control->counters.stopped, 1u) == 0u) {
      wait_kind const cause = members[failed].control->health.cause();
      failed_wait const earlier{wait_kind::earlier, 0, 0,    failed, 0, number(), 0,
                                client_blocks,      0, cause};
      WARDEN_NO_UNROLL
      for (std::uint32_t m = 0; m < member_count; ++m) tell(m, earlier);
      WARDEN_NO_UNROLL
      for (std::uint32_t m = 0; m < member_count; ++m)
        members[m].report->note_skipped(&guarded_report::launches_skipped, cause);
    }
    return true;
  }

  /// Returns a number that changes whenever the launch makes progress: a message reserved, executed
  /// or released, a virtual block begun, a client block done. It is derived from the protocol's own
  /// counters, so the blocks that make progress pay nothing for it.
  WARDEN_DEVICE std::uint64_t progress() const {
    std::uint64_t sum = simt::load_relaxed(&control->counters.next_virtual_block) +
                        std::uint64_t{simt::load_relaxed(&control->counters.client_blocks_done)};
    WARDEN_NO_UNROLL
    for (unsigned g = 0; g < group_count; ++g) {
      WARDEN_NO_UNROLL
      for (unsigned s = 0; s < groups[g].servers; ++s) {
        channel_indices const& channel = groups[g].indices[s];
        sum += simt::load_relaxed(&channel.reserved.value) +
               simt::load_relaxed(&channel.executed.value) +
               simt::load_relaxed(&channel.released.value);
      }
    }
    return sum;
  }

  /// Waits politely for `predicate`. Returns false if the launch is poisoned, by this wait or
  /// another. With `inlines` the code that poisons is inlined: if the wait is a hot loop, as for a
  /// contended lock, a call in it costs more than the extra code.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind kind,
                                std::uint32_t guarded, std::uint32_t channel, std::uint64_t index,
                                bool inlines) const {
    watchdog dog{&control->health, limit};
    return simt::wait_until(
        predicate,
        [&] {
          return dog.hopeful([&] { return progress(); },
                             [&] {
                               if (inlines) {
                                 stop(kind, guarded, channel, index);
                               } else {
                                 poison(kind, guarded, channel, index);
                               }
                             });
        },
        watch);
  }

  /// Stops the launch at once, as a failure of each of its guarded arrays. The first caller's
  /// reason is kept.
  WARDEN_COLD void poison(wait_kind kind, std::uint32_t guarded, std::uint32_t channel,
                          std::uint64_t index) const {
    stop(kind, guarded, channel, index);
  }

  /// Notes that a client asked for `asked` bytes of shared memory, of which there are only
  /// `available`.
  WARDEN_DEVICE void note_shared(std::uint32_t asked, std::uint32_t available) const {
    WARDEN_NO_UNROLL
    for (std::uint32_t m = 0; m < member_count; ++m) {
      simt::fetch_max(&members[m].report->shared_asked, std::uint64_t{asked} << 32 | available);
    }
  }

 private:
  WARDEN_DEVICE void stop(wait_kind kind, std::uint32_t guarded, std::uint32_t channel,
                          std::uint64_t index) const {
    failed_wait const first{kind,
                            simt::block_rank(),
                            simt::thread_rank(),
                            guarded,
                            channel,
                            number(),
                            index,
                            client_blocks,
                            simt::load_relaxed(&control->counters.client_blocks_done),
                            wait_kind::nothing};
    simt::exchange(&control->counters.stopped, 1u);  // mutation: health-stopped
    simt::fence_device();
    if (!tell(0, first)) return;
    WARDEN_NO_UNROLL
    for (std::uint32_t m = 1; m < member_count; ++m) tell(m, first);  // mutation: health-partner
  }
  WARDEN_DEVICE std::uint32_t number() const {
    return static_cast<std::uint32_t>(members[0].launch_number);
  }
  /// Marks guarded array `m` as failed with this launch. Returns false if it had failed before.
  WARDEN_DEVICE bool tell(std::uint32_t m, failed_wait const& first) const {
    guarded_health& health = members[m].control->health;
    if (!detail::poison(&health, first)) return false;
    health.failed.limit_nanoseconds = limit.nanoseconds;
    health.failed.member_count = member_count;
    WARDEN_NO_UNROLL
    for (std::uint32_t i = 0; i < member_count; ++i) health.failed.members[i] = members[i];
    return true;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
