// SPDX-License-Identifier: Apache-2.0
/// @file
/// Block-wide collectives: CUB on a GPU, a plain loop on the simulated device.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#  include <cub/block/block_scan.cuh>
#endif

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// Exclusive prefix sums over the threads of a block of `Threads` threads.
template <unsigned Threads>
class block_scan {
 public:
#if defined(__CUDACC__)
  /// Shared memory of one scan at a time.
  using storage = typename cub::BlockScan<std::uint32_t, static_cast<int>(Threads)>::TempStorage;
#else
  struct storage {
    std::uint32_t values[Threads];
    std::uint32_t total;
  };
#endif

  /// Collective. Returns the sum over the threads before this one; `total` gets the sum over all. A
  /// block barrier must pass before `temporary` is used again.
  WARDEN_DEVICE static std::uint32_t exclusive_sum(storage& temporary, std::uint32_t value,
                                                   std::uint32_t& total) {
#if defined(__CUDACC__)
    std::uint32_t before;
    cub::BlockScan<std::uint32_t, static_cast<int>(Threads)>{temporary}.ExclusiveSum(value, before,
                                                                                     total);
    return before;
#else
    temporary.values[thread_rank()] = value;
    sync_block();
    if (thread_rank() == 0) {
      std::uint32_t sum = 0;
      for (std::uint32_t& v : temporary.values) {
        std::uint32_t const own = v;
        v = sum;
        sum += own;
      }
      temporary.total = sum;
    }
    sync_block();
    total = temporary.total;
    return temporary.values[thread_rank()];
#endif
  }
};

}  // namespace simt
WARDEN_NAMESPACE_END
