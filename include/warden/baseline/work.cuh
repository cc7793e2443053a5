// SPDX-License-Identifier: Apache-2.0
// The work that all baselines take: sections for records, by index.
#pragma once

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// Operation i, for i < n, is the section `make(i)` on record `ids[i]`. All pointers are device
/// memory.
template <class Record, class Make, class Context>
struct work {
  Record* records;
  std::uint32_t const* ids;
  std::uint32_t n;
  Make make;
  Context context;
};

/// This thread's first operation, and the step to its next one.
WARDEN_DEVICE std::uint32_t first_operation() {
  return simt::block_rank() * simt::block_threads() + simt::thread_rank();
}
WARDEN_DEVICE std::uint32_t operation_step() { return simt::block_count() * simt::block_threads(); }

/// As many blocks as are resident together.
template <class Argument>
unsigned full_occupancy(void (*kernel)(Argument), unsigned threads) {
  return static_cast<unsigned>(runtime::resident_blocks(simt::make_kernel(kernel), threads, 0));
}

}  // namespace baseline
WARDEN_NAMESPACE_END
