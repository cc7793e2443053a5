// SPDX-License-Identifier: Apache-2.0
/// @file
/// The report on the last run of a log, which `explain` returns.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// Durations of the phases of a run, by a clock that the whole GPU shares. Its resolution depends
/// on the GPU and can be as coarse as 1 us. Each phase includes the gap until the next one begins.
/// A phase that the run did not have takes 0. Units: microseconds. All are 0 on the simulated
/// device, which has no time.
struct run_times {
  double close = 0;     ///< the log is closed
  double sort = 0;      ///< flat messages are sorted; in order: the order of batches is found
  double split = 0;     ///< each partition is sorted once more
  double run = 0;       ///< sections run, except wide partials
  double partials = 0;  ///< wide partials run
  double open = 0;      ///< the log is opened again

  /// Returns the sum of all phases.
  [[nodiscard]] double total() const { return close + sort + split + run + partials + open; }
};

/// A record with many sections.
struct hot_record {
  std::uint64_t id;        ///< the record
  std::uint64_t sections;  ///< about the number of its sections that ran
};

/// Facts about the last run of a log.
///
/// Runs in rounds, runs by a fused launch and runs on several ranks do not say which partitions
/// they had: `partitions`, and what is said of them, is then 0, and `sections_run` is
/// `sections - combined_away`. On several ranks `sections` are those that this rank's kernels sent,
/// and the exchange belongs to the phases `sort` and `run`.
struct run_report {
  std::uint64_t room = 0;           ///< sections that the log has room for
  std::uint64_t sections = 0;       ///< sections that the log had accepted
  std::uint64_t combined_away = 0;  ///< sections that were combined into others before the run
  std::uint64_t sections_run = 0;   ///< sections that ran, one for each partial
  std::uint64_t flat = 0;           ///< sections that threads sent one by one
  std::uint64_t batches = 0;        ///< batches that blocks sent

  std::uint32_t partitions = 0;          ///< partitions of the run
  std::uint32_t split = 0;               ///< parts into which each partition of the log was split
  std::uint32_t on_chip = 0;             ///< partitions that ran with their records on chip
  std::uint32_t in_memory = 0;           ///< partitions that ran with their records in memory
  std::uint32_t untouched = 0;           ///< partitions without sections
  std::uint64_t largest_partition = 0;   ///< sections of the partition with the most
  std::uint64_t most_of_one_record = 0;  ///< no record had more sections than about this
  std::optional<hot_record> hottest;     ///< record with most of its partition's sections, and with
                                         ///< more than any other record; too few sections are
                                         ///< counted if others were as hot before or after
  run_times microseconds;                ///< time of each phase
  std::vector<std::string> advice;       ///< changes that would help, a sentence each

  /// Returns the report as text: one line for each subject, and one for each piece of advice.
  [[nodiscard]] std::string text() const;
};

/// Facts about the sections of a log that decide which advice helps.
struct section_facts {
  bool declines_combining = false;  ///< the section has `combine`, and says `combines = false`
  bool combines = false;            ///< the log combines
  bool is_atomic = false;           ///< each section type has `atomic`
  bool in_order = false;            ///< sections run in order
};
/// Adds advice to a report that is otherwise complete.
void add_advice(run_report& report, section_facts const& sections);

WARDEN_HOST_NAMESPACE_END
