// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded and its logs have in common, wherever each of them is moved.
#pragma once

#include <warden/buffer.hpp>
#include <warden/launch/guarded_report.cuh>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Lives as long as any of them.
struct shared_state {
  buffer<guarded_report> report{1};  ///< what their clients did wrong, and the totals
  event last_run;                    ///< of any log, in whatever stream; not of captured runs

  /// A run of a log is enqueued in `s`, or captured; then nobody can tell when it runs.
  void ran(stream_ref s) {
    if (!runtime::capturing(s)) last_run.record(s);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
