// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels of a run whose sections a library sorts: one lists the records of the sections, and
/// one runs the sorted sections.
#pragma once

#include <warden/detail/deterministic/chunk_runner.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Lists the records of all sections, and their numbers. A section without a record gets the number
/// of records. Grid: any, one-dimensional.
template <class Arguments>
WARDEN_KERNEL void list_sections(Arguments const a, std::uint32_t* ids, std::uint32_t* numbers) {
  simt::assume_one_dimension();
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  for (std::uint64_t i = simt::block_rank() * simt::block_threads() + simt::thread_rank(); i < a.n;
       i += step) {
    std::uint64_t id = 0;
    bool const has_record =
        a.bulk.id_of(a.first + i, id) && a.report->check(id, a.size, a.first + i);
    ids[i] = static_cast<std::uint32_t>(has_record ? id : a.size);
    numbers[i] = static_cast<std::uint32_t>(i);
  }
}

/// Runs sorted sections. Launch with a chunk_storage for each warp as dynamic shared memory, and a
/// warp for each `chunk_positions` sections.
template <class Arguments>
WARDEN_KERNEL void run_sorted(Arguments const a, sorted_sections<std::uint32_t> const sorted) {
  simt::assume_one_dimension();
  std::uint64_t const warp =
      (std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank()) /
      simt::warp_size;
  std::uint64_t const first = warp * chunk_positions;
  if (first >= sorted.n) return;
  auto& shared = reinterpret_cast<chunk_storage*>(simt::dynamic_shared())[simt::warp_rank()];
  chunk_runner<Arguments, std::uint32_t>{a, sorted}.run(static_cast<std::uint32_t>(first), shared);
}

}  // namespace detail
WARDEN_NAMESPACE_END
