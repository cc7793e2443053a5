// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded and its logs have in common, wherever each of them is moved.
#pragma once

#include <warden/buffer.hpp>
#include <warden/channel/section_log.cuh>
#include <warden/launch/guarded_report.cuh>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// What a guarded shares with its logs; lives as long as any of them.
struct shared_state {
  /// Contents garbage. Throws cuda_error.
  explicit shared_state(std::source_location where)
      : report{1, where}, at_work{1, where}, last_run{where} {}

  buffer<guarded_report> report;  ///< what their clients did wrong, and the totals
  /// Not 0 while the records are in use: 1 by a run, another number by a launch.
  buffer<std::uint32_t> at_work;
  bool has_logs = false;  ///< or had some
  /// Records of all ranks together, where the guarded has one rank's share of them; 0 otherwise.
  std::uint64_t all_records = 0;
  event last_run;  ///< of any log, in whatever stream; not of captured runs

  /// What is left of a log that is gone.
  struct remains {
    buffer<log_region> regions;
    std::uint32_t size, region_size;
  };
  /// Until somebody has looked what was left in them.
  std::vector<remains> gone;

  /// How many sections were left in logs that are gone, since it was asked last. Blocks the host;
  /// nothing of theirs is under way. Throws cuda_error.
  std::uint64_t never_run(stream_ref s, std::source_location where) {
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
    gone.clear();
    return sections;
  }
  /// A run of a log is enqueued in `s`, or captured; then nobody can tell when it runs.
  void ran(stream_ref s, std::source_location where) {
    if (!runtime::capturing(s, where)) last_run.record(s, where);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
