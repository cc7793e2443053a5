// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the blocks of one launch share: its health, who does what, how much is done.
#pragma once

#include <warden/channel.cuh>
#include <warden/simt/simt.cuh>
#include <warden/watchdog.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Zeroed in the stream before each launch, except `health`: an error stays until `wait` reports
/// it.
struct launch_counters {
  /// Guardeds a launch takes.
  static constexpr unsigned most_guardeds = 4;
  /// Multiprocessors with a count of their own; more share one.
  static constexpr unsigned multiprocessors = 512;

  alignas(128) std::uint32_t next_virtual_block;  ///< the next one to run
  alignas(128) std::uint32_t client_blocks_done;  ///< client blocks that will send nothing more
  alignas(128) std::uint32_t servers_claimed;     ///< blocks that became servers
  alignas(128) std::uint32_t clients_claimed;     ///< blocks that became client blocks
  /// Of each guarded: servers that have executed all that clients will ever send them. Counted only
  /// where sections send sections.
  alignas(128) std::uint32_t servers_drained[most_guardeds];
  /// Blocks that have started on each multiprocessor.
  alignas(128) std::uint32_t tickets[multiprocessors];
};

/// All of a launch's own device memory.
struct launch_control {
  alignas(128) launch_health health;  ///< whether it was stopped, and why
  /// Set when a client asked for more shared memory than the launch has: bytes asked for.
  std::uint32_t shared_asked;
  launch_counters counters;  ///< who does what, how much is done
};

/// One guarded's channels, or its rings, as far as a watchdog needs them.
struct channel_group {
  channel_indices const* indices;  ///< one a server
  std::uint32_t servers;           ///< channels
};

/// The launch as device code sees it; a part of every guarded's ref.
struct launch_frame {
  /// Guardeds a launch takes.
  static constexpr unsigned most_guardeds = launch_counters::most_guardeds;

  launch_control* control;                  ///< in global memory
  time_limit limit;                         ///< the first guarded's
  std::uint32_t group_count;                ///< of all guardeds
  std::uint32_t client_blocks;              ///< blocks that run virtual blocks
  std::uint32_t launch;                     ///< which one on `control`
  channel_group groups[2 * most_guardeds];  ///< channels, and rings where there are any

  /// Whether the launch was stopped.
  WARDEN_DEVICE bool poisoned() const { return is_poisoned(&control->health); }

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
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind kind,
                                std::uint32_t guarded, std::uint32_t channel,
                                std::uint64_t index) const {
    watchdog dog{&control->health, limit};
    return simt::wait_until(
        predicate,
        [&] {
          return dog.hopeful([&] { return progress(); },
                             [&] { return failure(kind, guarded, channel, index); });
        },
        watch);
  }

  /// Stops the launch at once, for what no waiting helps against.
  WARDEN_DEVICE void poison(wait_kind kind, std::uint32_t guarded, std::uint32_t channel,
                            std::uint64_t index) const {
    if (simt::compare_exchange(&control->health.poisoned, 0u, 1u) == 0u)
      control->health.first = failure(kind, guarded, channel, index);
  }

 private:
  WARDEN_DEVICE failed_wait failure(wait_kind kind, std::uint32_t guarded, std::uint32_t channel,
                                    std::uint64_t index) const {
    return {kind,
            simt::block_rank(),
            simt::thread_rank(),
            guarded,
            channel,
            launch,
            index,
            client_blocks,
            simt::load_relaxed(&control->counters.client_blocks_done)};
  }
};

WARDEN_NAMESPACE_END
