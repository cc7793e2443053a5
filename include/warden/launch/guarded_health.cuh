// SPDX-License-Identifier: Apache-2.0
/// @file
/// The failure of a guarded array's launch or run, in device memory until `wait` reports it.
#pragma once

#include <warden/launch/guarded_report.cuh>
#include <warden/launch/watchdog.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

struct launch_control;

/// One guarded of a launch.
struct launch_member {
  launch_control* control;      ///< the guarded's own, which also tells who it is
  guarded_report* report;       ///< the guarded's
  std::uint64_t launch_number;  ///< its launches so far, this one included
};

/// The launch that failed.
struct failed_launch {
  /// Guarded arrays that a launch takes.
  static constexpr unsigned most_members = 4;

  std::uint64_t limit_nanoseconds;      ///< time limit of its waits
  std::uint32_t member_count;           ///< its guardeds
  launch_member members[most_members];  ///< by position
};

/// What a guarded's `wait` has to report of launches. Only that clears it, and before it does,
/// nothing runs on the guarded's channels.
struct guarded_health : launch_health {
  failed_launch failed;  ///< written with `first`

  /// What the launch or run waited for that failed. Precondition: the stream, or an event, orders
  /// the kernel that failed, and with that the thread that wrote `first`, before the caller.
  [[nodiscard]] WARDEN_DEVICE wait_kind cause() const {
    return first.kind == wait_kind::earlier ? first.cause : first.kind;
  }
};

WARDEN_NAMESPACE_END
