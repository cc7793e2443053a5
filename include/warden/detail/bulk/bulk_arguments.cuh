// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arguments of the kernels of a bulk run, and the use of the guarded array's records.
#pragma once

#include <warden/detail/block/record_id.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// State of a bulk run in global memory.
struct bulk_control {
  std::uint32_t has_records;  ///< 1 if the run has taken the guarded array's records
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

  /// Returns what one block leaves.
  WARDEN_DEVICE block_partials<Partial> of_block(unsigned block) const {
    std::size_t const first = std::size_t{block} * shape.records;
    return {partials + first, present + first};
  }
  /// Takes the records for the run, by one thread of the first kernel. If another run or launch has
  /// them, the run has no effect, and that is counted.
  WARDEN_DEVICE void take_records() const {
    if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
    bool const taken = array.take();
    if (!taken) simt::fetch_add(&array.report->runs_put_off, std::uint64_t{1});
    control->has_records = taken ? 1 : 0;
    control->pieces = 0;
  }
  /// Runs the section of one record, if there is one.
  WARDEN_DEVICE void apply(std::uint64_t record, partial_sum<Partial> const& sum) const {
    if (!sum.is_present) return;
    Record& r = array.records[record];
    simt::section_enter(&r);
    static_cast<void>(run_with_id(sum.words.value(), r, context, record_id{record}));
    simt::section_leave(&r);
  }
  /// Ends a block of the last kernel. The last block frees the records. Collective over the block.
  WARDEN_DEVICE void finish_block() const {
    simt::sync_block();
    if (simt::thread_rank() != 0) return;
    // Release: the barrier handed the block's writes to this thread. Pairs with the fence of the
    // last block, which frees the records for the next run.
    simt::fence_device();
    if (simt::fetch_add(&control->blocks_done, 1u) + 1 != simt::block_count()) return;
    simt::fence_device();  // acquire of the other blocks, and release for `free`
    control->blocks_done = 0;
    if (!array.free()) simt::fetch_add(&array.report->launches_amid, std::uint64_t{1});
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
