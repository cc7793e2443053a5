// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arguments of the kernels of a bulk run, and the use of the guarded array's records.
#pragma once

#include <warden/detail/block/record_id.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// State of a bulk run in global memory.
struct bulk_control {
  std::uint32_t run;          ///< number of the run that has taken the records; 0 if none has
  std::uint32_t blocks_done;  ///< blocks of the last kernel that have run their sections
  std::uint32_t pieces;       ///< pieces of all parts, if the records are in parts
};

/// Arguments of the kernels.
template <class Partial, class Record, class Context>
struct bulk_arguments {
  run_array<Record> array;  ///< records
  Context context;          ///< context of the sections
  bulk_shape shape;         ///< tables of a block
  unsigned blocks;          ///< blocks that leave partials
  Partial* partials;        ///< [block][record of a table]
  unsigned char* present;   ///< [block][record of a table] 1 if there is a partial
  bulk_control* control;    ///< state
  std::uint32_t number;     ///< number of the run, from 1
  bool is_first, is_last;   ///< true if the pass is the first, or the last one, of the run

  /// Returns what one block leaves.
  WARDEN_DEVICE block_partials<Partial> of_block(unsigned block) const {
    std::size_t const first = std::size_t{block} * shape.records;
    return {partials + first, present + first};
  }
  /// True if the run has the records.
  WARDEN_DEVICE bool has_records() const { return control->run == number; }
  /// Takes the records for the run, by one thread of the first kernel of its first pass. If another
  /// run or launch has them, the run has no effect, and that is counted.
  WARDEN_DEVICE void take_records() const {
    if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
    if (is_first) {
      if (!array.take()) {
        simt::fetch_add(&array.report->runs_put_off, std::uint64_t{1});
        return;
      }
      control->run = number;
    }
    if (has_records()) control->pieces = 0;
  }
  /// Runs the section of one record, if there is one.
  WARDEN_DEVICE void apply(std::uint64_t record, partial_sum<Partial> const& sum) const {
    run_sum(sum, array.records + record, context, record_id{record});
  }
  /// Ends a block of a pass's last kernel. The last block of the last pass frees the records.
  /// Collective over the block.
  WARDEN_DEVICE void finish_block() const {
    simt::sync_block();
    if (simt::thread_rank() != 0) return;
    // Release: the barrier handed the block's writes to this thread. Pairs with the fence of the
    // last block, which frees the records for the next run.
    simt::fence_device();
    if (simt::fetch_add(&control->blocks_done, 1u) + 1 != simt::block_count()) return;
    // Acquire of the other blocks: their writes come before `free`, and what they read of the
    // control was read before it changes. Release for `free`, too. The next run's kernels wait for
    // the end of this one, so they see the control.
    simt::fence_device();
    control->blocks_done = 0;
    if (!is_last) return;
    control->run = 0;
    if (!array.free()) simt::fetch_add(&array.report->launches_amid, std::uint64_t{1});
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
