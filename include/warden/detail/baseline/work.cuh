// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work of all baselines: sections for records, by index.
#pragma once

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
/// Methods with which Warden is compared, each as strong as possible.
namespace baseline {

/// Operation i, for i < n, is the section `make(i)` on record `ids[i]`. All pointers are device
/// memory.
template <class Record, class Make, class Context, class Ids = std::uint32_t const*>
struct work {
  Record* records;  ///< all records
  Ids ids;          ///< `n` record ids, unchecked; an array, or an object with operator[]
  std::uint32_t n;  ///< operations
  Make make;        ///< `Section make(std::uint32_t i)`, on the device, once or more
  Context context;  ///< context of every section
};

/// Returns this thread's first operation.
WARDEN_DEVICE std::uint32_t first_operation() {
  return simt::block_rank() * simt::block_threads() + simt::thread_rank();
}
/// Returns the distance from one operation of a thread to its next: the threads of the grid.
WARDEN_DEVICE std::uint32_t operation_step() { return simt::block_count() * simt::block_threads(); }
/// Calls `f(i)` for `i` = `first`, `first + step` and so on below `n`, until it returns false.
template <class F>
WARDEN_DEVICE void for_each_from(std::uint32_t first, std::uint32_t step, std::uint32_t n, F f) {
  // The number after the last one may be beyond 2^32.
  for (std::uint64_t i = first; i < n; i += step)
    if (!f(static_cast<std::uint32_t>(i))) return;
}

/// Section type of a `work`.
template <class Work>
using section_of = std::remove_cvref_t<decltype(std::declval<Work const&>().make(std::uint32_t{}))>;

/// Returns the number of blocks that are resident together. Throws cuda_error.
template <class Argument>
unsigned full_occupancy(void (*kernel)(Argument), unsigned threads, std::size_t shared_bytes = 0) {
  return static_cast<unsigned>(
      runtime::resident_blocks(simt::make_kernel(kernel), threads, shared_bytes));
}

}  // namespace baseline
WARDEN_NAMESPACE_END
