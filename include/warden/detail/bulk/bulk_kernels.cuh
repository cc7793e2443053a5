// SPDX-License-Identifier: Apache-2.0
/// @file
/// The two kernels of a bulk run: blocks combine what a function returns, and then the partials of
/// all blocks run as one section per record.
#pragma once

#include <warden/detail/block/index_range.cuh>
#include <warden/detail/bulk/add_elements.cuh>
#include <warden/detail/bulk/bulk_arguments.cuh>
#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Combines what the function returns for all i of a range, in the tables of each block. `Table` is
/// thread_tables, warp_tables or block_table.
template <template <class> class Table, class Partial, class Record, class Context, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(Table<Partial>::most_threads, 1)
    combine_rows(bulk_arguments<Partial, Record, Context> a, Function function, index_range of) {
  simt::assume_one_dimension();
  a.take_records();
  Table<Partial> table{a.shape, simt::dynamic_shared()};
  table.start();
  auto const check = [&](std::uint64_t id, std::uint64_t row) {
    return a.array.report->check(id, a.array.size, row);
  };
  add_elements(table, of, function, check);
  table.finish(a.of_block(simt::block_rank()));
}

/// Threads of the blocks of the kernel below; each warp has 32 adjacent records.
inline constexpr unsigned apply_threads = 512;

/// Combines the partials of all blocks, and runs one section for each record that has any.
template <class Partial, class Record, class Context>
WARDEN_KERNEL void WARDEN_BOUNDS(apply_threads, 1)
    apply_partials(bulk_arguments<Partial, Record, Context> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.has_records()) return;
  constexpr unsigned warps = apply_threads / simt::warp_size;
  auto* const sums = reinterpret_cast<partial_words<Partial>*>(simt::dynamic_shared());
  auto* const has_sum = reinterpret_cast<unsigned char*>(sums + apply_threads);
  std::uint64_t const record =
      std::uint64_t{simt::block_rank()} * simt::warp_size + simt::lane_id();
  partial_sum<Partial> sum;
  if (record < a.shape.records) {
    WARDEN_NO_UNROLL
    for (unsigned block = simt::warp_rank(); block < a.blocks; block += warps) {
      auto const of = a.of_block(block);
      if (of.present[record] != 0) sum.add(partial_words<Partial>::load(of.partials[record]));
    }
  }
  sums[simt::thread_rank()] = sum.words;
  has_sum[simt::thread_rank()] = sum.is_present ? 1 : 0;
  simt::sync_block();
  if (simt::warp_rank() == 0) {
    for (unsigned t = simt::thread_rank() + simt::warp_size; t < apply_threads;
         t += simt::warp_size) {
      if (has_sum[t] != 0) sum.add(sums[t]);
    }
    a.apply(record, sum);
  }
  a.finish_block();
}

}  // namespace detail
WARDEN_NAMESPACE_END
