// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device memory of a guarded array for launches and runs: their failure, until `wait` reports it,
/// and the counters of launches.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

struct launch_control;

/// One guarded array of a launch.
struct launch_member {
  launch_control* control;      ///< control of the guarded array, which also identifies it
  guarded_report* report;       ///< report of the guarded array
  std::uint64_t launch_number;  ///< its launches so far, this one included
};

/// The launch that failed.
struct failed_launch {
  /// Largest number of guarded arrays of a launch.
  static constexpr unsigned most_members = 4;

  std::uint64_t limit_nanoseconds;      ///< time limit of its waits
  std::uint32_t member_count;           ///< its guarded arrays
  launch_member members[most_members];  ///< [member_count], by position
};

/// Failures of launches that a guarded array's `wait` has to report. Only `wait` clears it, and
/// before that nothing runs on the guarded array's channels.
struct guarded_health : launch_health {
  failed_launch failed;  ///< written with `first`

  /// Returns the reason for which the failed launch or run waited. Precondition: the stream, or an
  /// event, orders the failed kernel, and with it the thread that wrote `first`, before the caller.
  [[nodiscard]] WARDEN_DEVICE wait_kind cause() const {
    return first.kind == wait_kind::earlier ? first.cause : first.kind;
  }
};

/// Counters of the launches in which a guarded array comes first. Zeroed in the stream before each
/// of them.
struct launch_counters {
  /// Largest number of guarded arrays of a launch.
  static constexpr unsigned max_guarded_arrays = failed_launch::most_members;
  /// Multiprocessors with their own count; further ones share one.
  static constexpr unsigned multiprocessors = 512;

  alignas(128) std::uint32_t next_virtual_block;  ///< next virtual block to run
  alignas(128) std::uint32_t client_blocks_done;  ///< client blocks that will send nothing more
  alignas(128) std::uint32_t servers_claimed;     ///< blocks that became servers
  alignas(128) std::uint32_t clients_claimed;     ///< blocks that became client blocks
  /// Servers of each guarded array that have executed everything that clients will ever send them.
  /// Counted only if sections send sections.
  alignas(128) std::uint32_t servers_drained[max_guarded_arrays];
  /// Blocks that have started on each multiprocessor.
  alignas(128) std::uint32_t tickets[multiprocessors];
  /// Set before the launch becomes the failure of any of its guarded arrays.
  alignas(128) std::uint32_t stopped;
};

/// A guarded array's own device memory for launches.
struct launch_control {
  alignas(128) guarded_health health;  ///< health of the guarded array
  launch_counters counters;            ///< counters of the launches in which it comes first
};

}  // namespace detail
WARDEN_NAMESPACE_END
