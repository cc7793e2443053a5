// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the blocks of one launch share: who does what, how much is done, and the health of each of
/// its guarded arrays.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/execute/guarded_health.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/fused/channel.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One guarded array's channels, or its rings, as far as a watchdog needs them.
struct channel_group {
  channel_indices const* indices;  ///< one a server
  std::uint32_t servers;           ///< channels
};

/// The launch as device code sees it; a part of every guarded array's ref.
struct launch_ref {
  /// Guarded arrays a launch takes.
  static constexpr unsigned max_guarded_arrays = launch_counters::max_guarded_arrays;

  launch_control* control;                       ///< the first guarded's, in global memory
  time_limit limit;                              ///< the first guarded's
  std::uint32_t group_count;                     ///< of all guarded arrays
  std::uint32_t client_blocks;                   ///< blocks that run virtual blocks
  std::uint32_t member_count;                    ///< guarded arrays
  launch_member members[max_guarded_arrays];     ///< by position
  channel_group groups[2 * max_guarded_arrays];  ///< channels, and rings where there are any

  /// Whether the launch was stopped.
  WARDEN_DEVICE bool poisoned() const { return is_poisoned(&control->health); }

  /// Whether a guarded array has a failure to report; asked by one thread of each block at its
  /// start. Nothing may run then, and the others are told, unless it is this launch's own failure
  /// already.
  WARDEN_DEVICE bool refused() const {
    auto const healthy = [&](std::uint32_t m) { return !is_poisoned(&members[m].control->health); };
    std::uint32_t failed = 0;
    while (failed < member_count && healthy(failed)) ++failed;  // mutation: health-start
    if (failed == member_count) return false;
    // Behind a word that a thread of this launch has set we see that it was stopped before.
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

  /// A number that changes whenever the launch gets on: a message reserved, executed or released, a
  /// virtual block begun, a client block done. It is derived from what the protocol keeps anyway,
  /// so that progress costs nothing to those who make it.
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

  /// Waits politely for `predicate`; false once the launch is poisoned, by this wait or another.
  /// `inlines` the code that does that: where the wait itself is a hot loop, as for a lock of many
  /// contenders, a call in it costs more than its code elsewhere.
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

  /// Stops the launch at once: the failure of each of its guarded arrays. Whoever comes first says
  /// why.
  WARDEN_COLD void poison(wait_kind kind, std::uint32_t guarded, std::uint32_t channel,
                          std::uint64_t index) const {
    stop(kind, guarded, channel, index);
  }

  /// A client asked for `asked` bytes of shared memory, and there are `there`.
  WARDEN_DEVICE void note_shared(std::uint32_t asked, std::uint32_t there) const {
    WARDEN_NO_UNROLL
    for (std::uint32_t m = 0; m < member_count; ++m) {
      simt::fetch_max(&members[m].report->shared_asked, std::uint64_t{asked} << 32 | there);
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
  /// Guarded `m` has failed with this launch. False if it had failed before.
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
