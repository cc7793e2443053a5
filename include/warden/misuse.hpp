// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counters of what clients, launches and runs did wrong, and their text.
#pragma once

#include <warden/diagnosis.hpp>
#include <warden/error.hpp>
#include <warden/simt/host_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

WARDEN_HOST_NAMESPACE_BEGIN

/// Counters of one guarded array, in device memory until its `wait` takes them.
struct misuse_counts {
  std::uint64_t bad_ids;           ///< sends with an id outside the records
  std::uint64_t first_bad_id;      ///< the first such id, if there is one
  std::uint64_t apart;             ///< sends whose two records have different owners
  std::uint64_t first_apart;       ///< the first such: the ids of its records, 32 bits each
  std::uint64_t unflushed;         ///< messages that were staged and never flushed
  std::uint64_t unflushed_calls;   ///< calls that were staged and never flushed
  std::uint64_t calls_too_many;    ///< calls whose place an earlier one still had
  std::uint64_t early_gets;        ///< answers asked for before the block client had flushed
  std::uint64_t sends_too_many;    ///< sections sent by sections, beyond what those declare
  std::uint64_t refused;           ///< deferred sections that found their log full or being run
  std::uint64_t refused_by;        ///< how many sections such a log holds
  std::uint64_t batches_at_most;   ///< of a log in order that had room, but for no batch; or 0
  std::uint64_t wrong_block_lost;  ///< sections sent by a deferred_block in blocks of another shape
  std::uint64_t wrong_block;       ///< shape of such a block, and its client's threads from bit 48
  std::uint64_t order_unknown;     ///< batches of two launches that were given the same ref
  std::uint64_t not_whole;         ///< messages of a log that were not written yet
  std::uint64_t given_up;          ///< messages of logs whose run failed after it had begun
  std::uint64_t runs_put_off;      ///< runs of a log that found the guarded at work
  std::uint64_t partner_at_work;   ///< runs of a deferred_between that found the other one so
  std::uint64_t launches_amid;     ///< fused launches that did
  std::uint64_t runs_skipped;      ///< runs of a log after a failure of the guarded
  std::uint64_t partner_failed;    ///< runs of a deferred_between after a failure of the other one
  std::uint64_t launches_skipped;  ///< launches after a failure of one of their guarded arrays
  std::uint64_t skip_cause;        ///< wait_kind of such a failure
  /// A client asked for more shared memory than the launch has: bytes asked for, times 2^32, and
  /// bytes there were.
  std::uint64_t shared_asked;
};

/// Adds what the clients, launches and runs of a guarded array did wrong. It has `size` records,
/// its policy says `calls_per_thread`, logs that are gone held `never_run` sections, and `failure`
/// is that of its launches and runs, if there is one.
void add_misuse(error_list& found, misuse_counts const& report, std::size_t size,
                unsigned calls_per_thread, std::uint64_t never_run,
                std::optional<diagnosis> const& failure);

WARDEN_HOST_NAMESPACE_END
