// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded's clients report to the host.
#pragma once

#include <warden/diagnosis.hpp>
#include <warden/simt/simt.cuh>
#include <warden/statistics.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// What a guarded's clients, launches and runs report to the host; `wait` takes it.
struct guarded_report {
  std::uint64_t bad_ids;            ///< sends with an id outside the records
  std::uint64_t first_bad_id;       ///< the first such id, if there is one
  std::uint64_t apart;              ///< sends whose two records have different owners
  std::uint64_t first_apart;        ///< the first such: the ids of its records, 32 bits each
  std::uint64_t unflushed;          ///< messages that were staged and never flushed
  std::uint64_t unflushed_calls;    ///< calls that were staged and never flushed
  std::uint64_t calls_too_many;     ///< calls whose place an earlier one still had
  std::uint64_t early_gets;         ///< answers asked for before the block client had flushed
  std::uint64_t forwards_too_many;  ///< sections sent by sections, beyond what those declare
  std::uint64_t refused;            ///< deferred sections that found their log full or being run
  std::uint64_t refused_by;         ///< how many sections such a log holds
  std::uint64_t batches_at_most;    ///< of a log in order that had room, but for no batch; or 0
  std::uint64_t wrong_block_lost;  ///< sections sent by a deferred_block in blocks of another shape
  std::uint64_t wrong_block;       ///< shape of such a block, and its client's threads from bit 48
  std::uint64_t order_unknown;     ///< batches of two launches that were given the same ref
  std::uint64_t not_whole;         ///< messages of a log that nobody had written yet
  std::uint64_t given_up;          ///< messages of logs whose run failed after it had begun
  std::uint64_t runs_put_off;      ///< runs of a log that found the guarded at work
  std::uint64_t partner_at_work;   ///< runs of a deferred_between that found the other one so
  std::uint64_t launches_amid;     ///< fused launches that did
  std::uint64_t runs_skipped;      ///< runs of a log after a failure of the guarded
  std::uint64_t partner_failed;    ///< runs of a deferred_between after a failure of the other one
  std::uint64_t launches_skipped;  ///< launches after a failure of one of their guardeds
  std::uint64_t skip_cause;        ///< wait_kind of such a failure
  /// A client asked for more shared memory than the launch has: bytes asked for, times 2^32, and
  /// bytes there were.
  std::uint64_t shared_asked;
  statistics totals;  ///< never cleared; zero unless `Policy::statistics`

  /// True if `id` names one of `size` records; counts a bad one, keeps the first.
  WARDEN_DEVICE bool check(std::uint64_t id, std::uint64_t size) {
    if (id < size) return true;  // sabotage: bounds
    if (simt::fetch_add(&bad_ids, std::uint64_t{1}) == 0) simt::store_relaxed(&first_bad_id, id);
    return false;
  }
  /// Counts a run or a launch that was skipped, because an earlier one had failed, by one of the
  /// counters above.
  WARDEN_DEVICE void note_skipped(std::uint64_t guarded_report::*counter, wait_kind cause) {
    simt::store_relaxed(&skip_cause, static_cast<std::uint64_t>(cause));
    simt::fetch_add(&(this->*counter), std::uint64_t{1});
  }
};

namespace detail {
/// Moves all counters but the totals to `to`, and leaves zeros. Each is taken by one atomic, so
/// that what kernels of other streams count at the same time is in this report or in the next one.
/// One warp.
template <class Report>
WARDEN_KERNEL void take_report(Report* from, Report* to) {
  constexpr std::size_t counters = offsetof(Report, totals) / sizeof(std::uint64_t);
  auto* const source = reinterpret_cast<std::uint64_t*>(from);
  auto* const target = reinterpret_cast<std::uint64_t*>(to);
  for (std::size_t w = simt::thread_rank(); w < counters; w += simt::warp_size)
    target[w] = simt::exchange(&source[w], std::uint64_t{0});
}
}  // namespace detail

WARDEN_NAMESPACE_END
