// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels of a run whose sections a library sorts: one lists the records of the sections, and
/// one runs the sorted sections.
#pragma once

#include <warden/detail/deterministic/ids_order.cuh>
#include <warden/detail/deterministic/unit_runner.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Lists the records of all sections, and their words. A section without a record gets the number
/// of records. Leaves if the ids ascend. Grid: any, one-dimensional.
template <class Arguments>
WARDEN_KERNEL void list_sections(Arguments const a, ids_order const order, std::uint32_t* ids,
                                 std::uint32_t* words) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  if (order.ascends()) return;
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  for (std::uint64_t i = simt::block_rank() * simt::block_threads() + simt::thread_rank(); i < a.n;
       i += step) {
    std::uint64_t id = 0;
    bool const has_record =
        a.bulk.id_of(a.first + i, id) && a.report->check(id, a.size, a.first + i);
    ids[i] = static_cast<std::uint32_t>(has_record ? id : a.size);
    words[i] = has_record ? moved_word(a.bulk, a.first, static_cast<std::uint32_t>(i)) : 0;
  }
}

/// Memory in which a warp finds units of sorted sections.
using sorted_list = unit_storage<128>;
/// Runs sorted sections, or leaves if the ids ascended. Any grid; shared memory: a sorted_list for
/// each warp.
template <class Arguments>
WARDEN_KERNEL void run_sorted(Arguments const a, ids_order const order,
                              searched_sections const sorted) {
  simt::assume_one_dimension();
  if (order.has_ascended()) return;
  auto& shared = reinterpret_cast<sorted_list*>(simt::dynamic_shared())[simt::warp_rank()];
  unit_runner<Arguments, searched_sections> const runner{a, sorted};
  std::uint32_t const warps = simt::block_threads() / simt::warp_size;
  std::uint64_t const step = std::uint64_t{simt::block_count()} * warps * sorted_list::positions;
  for (std::uint64_t first =
           (std::uint64_t{simt::block_rank()} * warps + simt::warp_rank()) * sorted_list::positions;
       first < sorted.n; first += step) {
    auto const begin = static_cast<std::uint32_t>(first);
    runner.run(begin, begin + sorted_list::positions, shared);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
