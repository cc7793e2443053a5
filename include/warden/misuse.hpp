// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counters of errors that clients, launches and runs made, and their text.
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
  std::uint64_t apart;             ///< sends of a section whose two records have different owners
  std::uint64_t first_apart;       ///< ids of the two records of the first such send, 32 bits each
  std::uint64_t unflushed;         ///< messages that were staged and never flushed
  std::uint64_t unflushed_calls;   ///< calls that were staged and never flushed
  std::uint64_t calls_too_many;    ///< calls whose slot an earlier call still had
  std::uint64_t early_gets;        ///< answers requested before the block client had flushed
  std::uint64_t sends_too_many;    ///< sections sent by sections, beyond the declared number
  std::uint64_t refused;           ///< deferred sections whose log was full or being run
  std::uint64_t refused_by;        ///< number of sections that such a log holds
  std::uint64_t batches_at_most;   ///< batches that an ordered log holds, if it was out of batches
                                   ///< and not of space; otherwise 0
  std::uint64_t wrong_block_lost;  ///< sections sent by a deferred_block in blocks of another shape
  std::uint64_t wrong_block;       ///< shape of such a block; from bit 48 on, threads of its client
  std::uint64_t order_unknown;     ///< batches of two launches that got the same ref
  std::uint64_t not_whole;         ///< messages of a log that were not written yet
  std::uint64_t given_up;          ///< messages of logs whose run failed after it had begun
  std::uint64_t runs_put_off;      ///< runs of a log that found the guarded array in use
  std::uint64_t partner_at_work;  ///< runs of a deferred_between that found its second array in use
  std::uint64_t launches_amid;    ///< fused launches that found the guarded array in use
  std::uint64_t runs_skipped;     ///< runs of a log after a failure of the guarded array
  std::uint64_t partner_failed;   ///< runs of a deferred_between after its second array's failure
  std::uint64_t launches_skipped;  ///< launches after a failure of one of their guarded arrays
  std::uint64_t skip_cause;        ///< wait_kind of such a failure
  /// Largest request of a client for more shared memory than the launch has: the bytes requested in
  /// the high 32 bits, the bytes available in the low 32 bits.
  std::uint64_t shared_asked;
};

/// Adds the errors that the clients, launches and runs of a guarded array made. It has `size`
/// records, its policy says `calls_per_thread`, its destroyed logs held `never_run` sections, and
/// `failure` is the failure of its launches and runs, if there is one.
void add_misuse(error_list& found, misuse_counts const& report, std::size_t size,
                unsigned calls_per_thread, std::uint64_t never_run,
                std::optional<diagnosis> const& failure);

WARDEN_HOST_NAMESPACE_END
