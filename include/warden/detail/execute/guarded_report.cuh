// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reports of a guarded array's clients to the host.
#pragma once

#include <warden/detail/execute/statistics.cuh>
#include <warden/error.hpp>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Reports of a guarded array's clients, launches and runs to the host; `wait` takes them.
struct guarded_report : misuse_counts {
  statistics totals;  ///< never cleared; zero unless `Policy::statistics`

  /// True if `id` names one of `size` records. Counts a bad id, and keeps the first one.
  WARDEN_DEVICE bool check(std::uint64_t id, std::uint64_t size) {
    if (id < size) return true;  // mutation: bounds
    if (simt::fetch_add(&bad_ids, std::uint64_t{1}) == 0) simt::store_relaxed(&first_bad_id, id);
    return false;
  }
  /// Notes that the element `row` of a loop has a bad id, and keeps the lowest such row.
  WARDEN_DEVICE void note_bad_row(std::uint64_t row) { simt::fetch_max(&bad_rows_from, ~row); }
  /// Checks the id of the element `row` of a loop.
  WARDEN_DEVICE bool check(std::uint64_t id, std::uint64_t size, std::uint64_t row) {
    if (check(id, size)) return true;
    note_bad_row(row);
    return false;
  }
  /// Counts a run or a launch that was skipped because an earlier one had failed, in one of the
  /// counters above.
  WARDEN_DEVICE void note_skipped(std::uint64_t misuse_counts::*counter, wait_kind cause) {
    simt::store_relaxed(&skip_cause, static_cast<std::uint64_t>(cause));
    simt::fetch_add(&(this->*counter), std::uint64_t{1});
  }
};

/// Counts `n` sections that may not have run, because a later launch failed. One thread.
template <class Report>
WARDEN_KERNEL void count_given_up(Report* report, std::uint64_t n) {
  simt::fetch_add(&report->given_up, n);
}
/// Moves all counters of misuse to `to`, and leaves zeros. One atomic takes each counter, so counts
/// of kernels in other streams are in this report or in the next one. One warp.
template <class Report>
WARDEN_KERNEL void take_report(Report* from, Report* to) {
  constexpr std::size_t counters = sizeof(misuse_counts) / sizeof(std::uint64_t);
  auto* const source = reinterpret_cast<std::uint64_t*>(from);
  auto* const target = reinterpret_cast<std::uint64_t*>(to);
  for (std::size_t w = simt::thread_rank(); w < counters; w += simt::warp_size)
    target[w] = simt::exchange(&source[w], std::uint64_t{0});
}

}  // namespace detail
WARDEN_NAMESPACE_END
