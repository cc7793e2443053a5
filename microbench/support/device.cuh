// SPDX-License-Identifier: Apache-2.0
// Device functions that the kernels of all benchmarks share.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/simt.cuh>

#include <cstdint>

namespace bench {

namespace simt = warden::simt;

/// Returns a hash of (index, seed).
WARDEN_HOST_DEVICE std::uint64_t mix(std::uint64_t i, std::uint64_t seed) {
  std::uint64_t x = i + seed * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Returns a number in [0, 1) for each (index, seed), by hash.
WARDEN_HOST_DEVICE double mix_to_unit(std::uint64_t i, std::uint64_t seed) {
  return static_cast<double>(mix(i, seed) >> 11) * 0x1p-53;
}

/// Calls `f(i)` for every i < n that belongs to the calling thread in a grid-stride loop.
template <class F>
__device__ void for_each_of(std::uint64_t n, F f) {
  std::uint64_t const step = std::uint64_t{simt::block_count()} * simt::block_threads();
  for (std::uint64_t i =
           std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
       i < n; i += step)
    f(i);
}

/// Launch shape of kernels that draw and verify.
struct helper_shape {
  unsigned blocks, threads;
};
inline helper_shape shape_of_helpers() {
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  return simulated ? helper_shape{2, 32} : helper_shape{1024, 256};
}

}  // namespace bench
