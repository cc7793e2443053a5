// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded and its logs have in common, wherever each of them is moved.
#pragma once

#include <warden/buffer.hpp>
#include <warden/channel/section_log.cuh>
#include <warden/launch/guarded_report.cuh>
#include <warden/launch_kernel.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// What a guarded shares with its logs; lives as long as any of them.
struct shared_state {
  /// Contents garbage. Throws cuda_error.
  explicit shared_state(std::source_location where)
      : report{2, where}, at_work{1, where}, last_work{where} {}

  /// What their clients did wrong, and the totals; behind it what `wait` has taken of that.
  buffer<guarded_report> report;
  /// Not 0 while the records are in use: 1 by a run, another number by a launch.
  buffer<std::uint32_t> at_work;
  bool has_logs = false;  ///< or had some
  /// Records of all ranks together, where the guarded has one rank's share of them; 0 otherwise.
  std::uint64_t all_records = 0;
  /// After all runs of logs and all launches, in whatever streams; not those that were captured.
  event last_work;

  /// What is left of a log that is gone.
  struct remains {
    buffer<log_region> regions;
    std::uint32_t size, region_size;
  };
  /// Until `wait` has reported what was left in them.
  std::vector<remains> gone;

  /// Number of sections that are left in logs that are gone. Blocks the host; nothing of theirs is
  /// under way. Throws cuda_error.
  std::uint64_t never_run(stream_ref s, std::source_location where) const {
    std::uint64_t sections = 0;
    for (remains const& log : gone) {
      std::uint64_t begin = 0;
      for (log_region const& r : log.regions.to_host(s, where)) {
        std::uint64_t const room = std::min<std::uint64_t>(log.region_size, log.size - begin);
        std::uint64_t const taken = (r.taken & 0xffffffffu) + (r.taken >> 32);
        sections += std::min(taken, room);
        begin += room;
      }
    }
    return sections;
  }
  /// The counters of the report, which are zero from then on; the totals stay. Blocks the host.
  /// Throws cuda_error.
  guarded_report take_report(stream_ref s, std::source_location where) {
    guarded_report counted;
    guarded_report const nothing{};
    copy(&counted, report.data(), 1, s, where);
    s.synchronize(where);
    counted.totals = {};
    // Only if there is something: a kernel may have to wait until others of the device have ended.
    if (std::memcmp(&counted, &nothing, sizeof(nothing)) == 0) return counted;
    guarded_report* const taken = report.data() + 1;
    launch(&detail::take_report<guarded_report>, 1, simt::warp_size, {s, where}, report.data(),
           taken);
    copy(&counted, taken, 1, s, where);
    s.synchronize(where);
    return counted;
  }
  /// The guarded has a log from here on, so launches mark its records. Blocks the host until those
  /// that have not done that have ended: no run can meet one of them. Throws cuda_error.
  void begin_logs(std::source_location where) {
    if (!has_logs) last_work.synchronize(where);  // sabotage: launch-before-log
    has_logs = true;
  }
  /// A run of a log, or a launch, is enqueued in `s`; if it is captured, the event does not know
  /// when it runs. Allocates nothing. The event stays valid if the stream is destroyed.
  void enqueued(stream_ref s, std::source_location where) {
    if (runtime::capturing(s, where)) return;
    // Runs and launches of one guarded come one after another, so this orders them as they are: it
    // makes one event come after those of other streams.
    s.wait_for(last_work, where);  // sabotage: last-stream
    last_work.record(s, where);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
