// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sends the sections that a function returns on few records: each block combines them in tables in
/// shared memory, and logs one partial per record at the end.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/index_range.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/bulk/add_elements.cuh>
#include <warden/detail/bulk/block_table.cuh>
#include <warden/detail/bulk/bulk_plan.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/warp_tables.cuh>
#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/detail/deferred/table_batch.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if blocks may combine the sections of a log of `Ref` by record before they log them. All
/// records are of this device, because a table has a cell for each.
template <class Ref>
inline constexpr bool combines_by_record = false;
template <class Policy, class Record, class Section>
inline constexpr bool combines_by_record<deferred_ref<Policy, Record, Section>> =
    combines_in_log<Policy, Record, Section> && !is_spread<Policy> && !has_combine_key<Section>;

template <class T>
inline constexpr bool is_always_sent = false;
template <class Section>
inline constexpr bool is_always_sent<to<Section>> = true;
/// True if each element of `Function` is a section. A log of n places then has room for the
/// partials of n elements. For device code only: the host does not know what a `__device__` lambda
/// returns.
template <class Function>
inline constexpr bool sends_each =
    is_always_sent<std::remove_cvref_t<decltype(std::declval<Function const&>()(std::uint64_t{}))>>;

/// Combines what the function returns for each element, and logs the partials. Does nothing if the
/// function may send nothing for an element. `Table` is warp_tables or block_table; the batch
/// follows `table_bytes` bytes of tables.
template <template <class> class Table, class Partial, class Ref, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(Table<Partial>::most_threads, 1)
    send_by_tables(Ref ref, Function function, index_range elements, bulk_shape shape,
                   std::size_t table_bytes) {
  if constexpr (sends_each<Function>) {
    simt::assume_one_dimension();
    Table<Partial> table{shape, simt::dynamic_shared()};
    table.start();
    std::uint64_t sections = 0;
    add_elements(table, elements, function, [&](std::uint64_t id, std::uint64_t row) {
      if (!ref.report->check(id, ref.size, row)) return false;
      ++sections;
      return true;
    });
    table.close();
    table_batch<Ref> batch{ref, shape.records, simt::dynamic_shared() + table_bytes};
    batch.write(table, sections);
  }
}

/// Enqueues that kernel. The tables have `plan`.
template <template <class> class Table, class Ref, class Function>
void send_by(bulk_plan plan, unsigned blocks, Ref ref, Function f, index_range of, stream_ref s,
             std::source_location where) {
  using partial = typename Ref::formats::partial;
  auto const kernel = simt::make_kernel(&send_by_tables<Table, partial, Ref, Function>);
  std::size_t table_bytes = aligned_to_arena(plan.shared_bytes);
  std::size_t const bytes = table_bytes + table_batch<Ref>::shared_bytes(plan.shape.records);
  void* arguments[] = {&ref, &f, &of, &plan.shape, &table_bytes};
  runtime::allow_shared_bytes(kernel, bytes, where);
  runtime::launch(kernel, {blocks, plan.shape.threads, bytes, false}, arguments, s, where);
}

/// Least sections for each place that the partials of all blocks take: a place is written, read and
/// run in about the time of two sections that are combined.
inline constexpr std::uint64_t sections_per_place = 4;

/// Enqueues the kernel for the elements of a range, if the records of `ref` fit tables and there
/// are enough elements for the partials of all blocks. `Threads` is the number of threads of a
/// small block. Returns false if it has enqueued nothing. A kernel that sends in the usual way must
/// follow in any case, because this one does nothing if the function may send nothing.
template <unsigned Threads, class Ref, class Function>
bool try_send_by_tables(Ref const& ref, Function const& f, index_range of,
                        runtime::device_facts const& facts, stream_ref s,
                        std::source_location where) {
  using partial = typename Ref::formats::partial;
  using batch = table_batch<Ref>;
  if (ref.size > batch::most_records) return false;
  auto const records = static_cast<std::uint32_t>(ref.size);
  constexpr unsigned threads = std::min(Threads, most_table_threads<partial> / 2);
  auto const plan = plan_shared_tables<partial>(records, threads, facts,
                                                batch::shared_bytes(records) + arena_alignment);
  if (!plan) return false;
  unsigned const blocks =
      plan->blocks_per_multiprocessor * static_cast<unsigned>(facts.multiprocessors);
  // A batch has a row, and there is one row for each `least_batch` sections.
  std::uint64_t const least =
      std::max<std::uint64_t>(sections_per_place * batch::width * records, ref.log.least_batch);
  if (of.count() < blocks * least) return false;
  if (plan->tables == bulk_tables::of_warps) {
    send_by<warp_tables>(*plan, blocks, ref, f, of, s, where);
  } else {
    send_by<block_table>(*plan, blocks, ref, f, of, s, where);
  }
  return true;
}

}  // namespace detail
WARDEN_NAMESPACE_END
