// SPDX-License-Identifier: Apache-2.0
/// @file
/// The trace that a run of a log leaves in device memory, for `explain`.
#pragma once

#include <warden/run_report.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True for the thread of a block that writes the trace: in another warp than thread 0, whose
/// accesses the block waits for.
WARDEN_DEVICE bool is_tracer() { return simt::thread_rank() + 1 == simt::block_threads(); }

/// Phase of a run, in order of time.
enum class log_phase : unsigned char { close, sort, split, run, partials, open, end };

/// Trace of a log's last run.
struct run_trace {
  /// Number of phases.
  static constexpr std::size_t phases = static_cast<std::size_t>(log_phase::end);

  std::uint64_t begins[phases + 1];  ///< [phase] begin; 0 if the run had none. Units: nanoseconds
  std::uint32_t batches;             ///< batches that blocks had sent
  std::uint64_t freed;               ///< places that the combining of batches had freed
  std::uint32_t partitions = 0;      ///< partitions that the run had

  /// Notes that a phase begins. One thread.
  WARDEN_DEVICE void begin(log_phase phase) {
    begins[static_cast<std::size_t>(phase)] = simt::nanoseconds();
  }
  /// Notes the begin and the end of the last phase. One thread.
  WARDEN_DEVICE void finish(std::uint64_t opened, std::uint64_t ended) {
    begins[phases - 1] = opened;
    begins[phases] = ended;
  }
  /// True if the run has ended.
  [[nodiscard]] bool is_finished() const { return begins[phases] != 0; }

  /// Returns the durations of the phases. Precondition: the run has ended.
  [[nodiscard]] run_times times() const {
    std::array<double, phases> durations{};
    std::uint64_t next = begins[phases];
    for (std::size_t p = phases; p-- > 0;) {
      if (begins[p] == 0) continue;
      durations[p] = static_cast<double>(next - begins[p]) * 1e-3;
      next = begins[p];
    }
    return {durations[0], durations[1], durations[2], durations[3], durations[4], durations[5]};
  }
};

/// Memory in which a run keeps a partition's records.
enum class kept_in : std::uint32_t {
  nothing,  ///< the partition had no sections
  memory,   ///< global memory
  chip,     ///< shared memory
};

/// Trace of one partition of a run.
struct partition_trace {
  std::uint32_t sections = 0;      ///< sections, one for each partial
  std::uint32_t most = 0;          ///< no record had more of them than about this
  std::uint32_t hot_record = 0;    ///< id of the record with the most, if `hot_sections` is not 0
  std::uint32_t hot_sections = 0;  ///< about the number of its sections
  kept_in records = kept_in::nothing;  ///< memory of the records

  /// True if most of the sections are for one record.
  [[nodiscard]] bool is_dominated() const { return hot_sections > sections / 2; }
  /// Adds the trace of the same partition's wide partials.
  WARDEN_DEVICE void add(partition_trace const& wide) {
    sections += wide.sections;
    most += wide.most;
    if (wide.hot_sections > hot_sections) {
      hot_record = wide.hot_record;
      hot_sections = wide.hot_sections;
    }
    if (wide.records != kept_in::nothing) records = wide.records;
  }
};

/// Adds the traces of a run's partitions to a report.
inline void summarize(run_report& report, std::vector<partition_trace> const& all) {
  report.partitions = static_cast<std::uint32_t>(all.size());
  report.sections_run = 0;
  partition_trace const* hottest = nullptr;
  for (partition_trace const& one : all) {
    report.sections_run += one.sections;
    report.largest_partition = std::max<std::uint64_t>(report.largest_partition, one.sections);
    report.most_of_one_record = std::max<std::uint64_t>(report.most_of_one_record, one.most);
    ++(one.records == kept_in::chip     ? report.on_chip
       : one.records == kept_in::memory ? report.in_memory
                                        : report.untouched);
    if (hottest == nullptr || one.hot_sections > hottest->hot_sections) hottest = &one;
  }
  report.combined_away = report.sections - report.sections_run;
  if (hottest == nullptr || !hottest->is_dominated()) return;
  bool const is_hottest = std::all_of(all.begin(), all.end(), [&](partition_trace const& one) {
    return hottest->hot_sections >= (one.is_dominated() ? one.hot_sections : one.most);
  });
  if (is_hottest) report.hottest = hot_record{hottest->hot_record, hottest->hot_sections};
}

}  // namespace detail
WARDEN_NAMESPACE_END
