// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded and its logs have in common, wherever each of them is moved.
#pragma once

#include <warden/buffer.hpp>
#include <warden/channel/section_log.cuh>
#include <warden/launch/guarded_report.cuh>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Lives as long as any of them.
struct shared_state {
  buffer<guarded_report> report{1};  ///< what their clients did wrong, and the totals
  /// Not 0 while the records are in use: 1 by a run, another number by a launch.
  buffer<std::uint32_t> at_work{1};
  bool has_logs = false;  ///< or had some
  event last_run;         ///< of any log, in whatever stream; not of captured runs

  /// The regions of logs that are gone, until somebody has looked what was left in them.
  std::vector<buffer<log_region>> gone;

  /// How many sections were left in logs that are gone, since it was asked last. Blocks the host;
  /// nothing of theirs is under way. Throws cuda_error.
  std::uint64_t never_run(stream_ref s) {
    std::uint64_t sections = 0;
    for (buffer<log_region> const& regions : gone) {
      for (log_region const& r : regions.to_host(s))
        sections += (r.taken & 0xffffffffu) + (r.taken >> 32);
    }
    gone.clear();
    return sections;
  }
  /// A run of a log is enqueued in `s`, or captured; then nobody can tell when it runs.
  void ran(stream_ref s) {
    if (!runtime::capturing(s)) last_run.record(s);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
