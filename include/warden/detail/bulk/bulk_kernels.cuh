// SPDX-License-Identifier: Apache-2.0
/// @file
/// The two kernels of a bulk run: blocks combine what a function returns, and then the partials of
/// all blocks run as one section per record.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/record_id.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/bulk/bulk_rows.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// State of a bulk run in global memory.
struct bulk_control {
  std::uint32_t has_records;  ///< 1 if the run has taken the guarded array's records
  std::uint32_t blocks_done;  ///< blocks of the second kernel that have run their sections
};

/// Arguments of both kernels.
template <class Partial, class Record, class Context>
struct bulk_arguments {
  run_array<Record> array;  ///< records
  Context context;          ///< context of the sections
  bulk_shape shape;         ///< tables of a block
  unsigned blocks;          ///< blocks of the first kernel
  Partial* partials;        ///< [block][record]
  unsigned char* present;   ///< [block][record] 1 if there is a partial
  bulk_control* control;    ///< state

  /// Returns what one block leaves.
  WARDEN_DEVICE block_partials<Partial> of_block(unsigned block) const {
    std::size_t const first = std::size_t{block} * shape.records;
    return {partials + first, present + first};
  }
};

/// Combines what the function returns for all i < n, in the tables of each block. `Table` is
/// thread_tables, warp_tables or block_table.
template <template <class> class Table, class Partial, class Record, class Context, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(Table<Partial>::most_threads, 1)
    combine_rows(bulk_arguments<Partial, Record, Context> a, Function function, std::uint64_t n) {
  simt::assume_one_dimension();
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) {
    bool const taken = a.array.take();
    if (!taken) simt::fetch_add(&a.array.report->runs_put_off, std::uint64_t{1});
    a.control->has_records = taken ? 1 : 0;
  }
  Table<Partial> table{a.shape, simt::dynamic_shared()};
  table.start();
  auto const check = [&](std::uint64_t id) { return a.array.report->check(id, a.array.size); };
  using section = typename send_traits<std::remove_cvref_t<decltype(function(n))>>::section;
  constexpr unsigned at_once = Table<Partial>::rows_at_once(sizeof(section));
  for_each_row<at_once>(n, function, check,
                        [&](std::uint32_t id, auto const& section, bool is_valid) {
                          // A lane without a record has a number of its own, beyond every record.
                          std::uint32_t record = ~simt::lane_id();
                          partial_words<Partial> words;
                          bool const is_there = is_valid && check(id);
                          if (is_there) {
                            record = id;
                            words = partial_words<Partial>{made_partial<Partial>(section)};
                          }
                          table.add(record, words, is_there);
                        });
  table.finish(a.of_block(simt::block_rank()));
}

/// Frees the records, and reports the sections of a run whose second kernel was not enqueued. One
/// thread.
template <class Partial, class Record, class Context>
WARDEN_KERNEL void give_up_rows(bulk_arguments<Partial, Record, Context> a, std::uint64_t n) {
  if (a.control->has_records == 0) return;
  simt::fetch_add(&a.array.report->given_up, n);
  a.array.free();
}

/// Threads of the blocks of the kernel below; each warp has 32 adjacent records.
inline constexpr unsigned apply_threads = 512;

/// Combines the partials of all blocks, and runs one section for each record that has any.
template <class Partial, class Record, class Context>
WARDEN_KERNEL void WARDEN_BOUNDS(apply_threads, 1)
    apply_partials(bulk_arguments<Partial, Record, Context> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (a.control->has_records == 0) return;
  constexpr unsigned warps = apply_threads / simt::warp_size;
  auto* const sums = reinterpret_cast<partial_words<Partial>*>(simt::dynamic_shared());
  auto* const has_sum = reinterpret_cast<unsigned char*>(sums + apply_threads);
  std::uint64_t const record =
      std::uint64_t{simt::block_rank()} * simt::warp_size + simt::lane_id();
  bool is_present = false;
  partial_words<Partial> sum;
  auto const add = [&](partial_words<Partial> const& p) {
    if (is_present) {
      combine_into(sum, p);
    } else {
      sum = p;
    }
    is_present = true;
  };
  if (record < a.shape.records) {
    WARDEN_NO_UNROLL
    for (unsigned block = simt::warp_rank(); block < a.blocks; block += warps) {
      auto const of = a.of_block(block);
      if (of.present[record] != 0) add(partial_words<Partial>{of.partials[record]});
    }
  }
  sums[simt::thread_rank()] = sum;
  has_sum[simt::thread_rank()] = is_present ? 1 : 0;
  simt::sync_block();
  if (simt::warp_rank() == 0) {
    for (unsigned t = simt::thread_rank() + simt::warp_size; t < apply_threads;
         t += simt::warp_size) {
      if (has_sum[t] != 0) add(sums[t]);
    }
    if (is_present) {
      Record& r = a.array.records[record];
      simt::section_enter(&r);
      static_cast<void>(run_with_id(sum.value(), r, a.context, record_id{record}));
      simt::section_leave(&r);
    }
  }
  simt::sync_block();
  if (simt::thread_rank() != 0) return;
  // Release: the barrier handed the block's writes to this thread. Pairs with the fence of the last
  // block, which frees the records for the next run.
  simt::fence_device();
  if (simt::fetch_add(&a.control->blocks_done, 1u) + 1 != simt::block_count()) return;
  simt::fence_device();  // acquire of the other blocks, and release for `free`
  a.control->blocks_done = 0;
  if (!a.array.free()) simt::fetch_add(&a.array.report->launches_amid, std::uint64_t{1});
}

}  // namespace detail
WARDEN_NAMESPACE_END
