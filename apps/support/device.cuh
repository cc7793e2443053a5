// SPDX-License-Identifier: Apache-2.0
/// @file
/// Helpers of the applications' kernels: shares of a loop, and numbers of blocks and threads.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace apps {

/// Calls `f(i)` for this thread's share of the numbers below `n`: every `count`-th, for `count`
/// threads of the launch.
template <class F>
__device__ void for_my_share(std::uint64_t n, F f) {
  namespace simt = warden::simt;
  for (std::uint64_t i =
           std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
       i < n; i += std::uint64_t{simt::block_count()} * simt::block_threads())
    f(i);
}

/// Return the blocks and threads of kernels in which no thread waits for another one.
inline unsigned blocks() {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  return facts.simulated ? 2 : 8 * static_cast<unsigned>(facts.multiprocessors);
}
inline unsigned threads() {
  return warden::runtime::facts(warden::runtime::current_device()).simulated ? 32 : 256;
}

/// Returns the blocks of a cooperative launch of `threads` threads: all that are resident together.
/// Throws cuda_error.
inline unsigned cooperative_blocks(warden::runtime::kernel const& kernel, unsigned threads,
                                   std::size_t shared_bytes) {
  auto const resident =
      static_cast<unsigned>(warden::runtime::resident_blocks(kernel, threads, shared_bytes));
  // Simulated threads are slow.
  return warden::runtime::facts(warden::runtime::current_device()).simulated
             ? std::min(resident, 3u)
             : resident;
}

}  // namespace apps
