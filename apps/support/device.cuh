// SPDX-License-Identifier: Apache-2.0
/// @file
/// Helpers of the applications' kernels in which no thread waits for another one.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/simt.cuh>

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

/// Return the blocks and threads of such kernels.
inline unsigned blocks() {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  return facts.simulated ? 2 : 8 * static_cast<unsigned>(facts.multiprocessors);
}
inline unsigned threads() {
  return warden::runtime::facts(warden::runtime::current_device()).simulated ? 32 : 256;
}

}  // namespace apps
