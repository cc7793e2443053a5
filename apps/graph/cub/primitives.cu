// SPDX-License-Identifier: Apache-2.0
// The device algorithms by CUB, compiled here once.

#include "apps/graph/primitives.hpp"

#include <warden/buffer.hpp>
#include <warden/error.hpp>

#include <thrust/iterator/constant_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

#include <algorithm>
#include <cstddef>
#include <source_location>
#include <string>

namespace graph {

namespace {

struct plus {
  __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

/// Calls `algorithm(memory, bytes)` twice, as CUB requires: first to get the bytes, then with
/// memory.
template <class Algorithm>
void with_memory(char const* what, std::uint64_t n, Algorithm algorithm) {
  auto const check = [&](cudaError_t code) {
    if (code == cudaSuccess) return;
    cudaGetLastError();  // not sticky: the next call must not report it again
    throw warden::cuda_error{
        static_cast<int>(code),
        std::string{"graph: "} + what + " " + std::to_string(n) + ": " + cudaGetErrorString(code),
        std::source_location::current()};
  };
  constexpr std::uint64_t most = 0x7fffffff;
  if (CUB_VERSION < 300000 && n > most) {  // some of its algorithms took an int
    throw warden::limit_error{std::string{"graph: "} + what + " " + std::to_string(n) +
                              "; before CUB 3 the limit is " + std::to_string(most)};
  }
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes));
  // At least 1 byte, because CUB treats null memory as a query.
  warden::buffer<std::byte> const memory{std::max<std::size_t>(bytes, 1)};
  check(algorithm(memory.data(), bytes));
}

}  // namespace

void sort_pairs(array_pair& keys, array_pair& values, std::uint64_t n, unsigned bits,
                warden::stream_ref s) {
  cub::DoubleBuffer<std::uint32_t> k{keys.current, keys.other}, v{values.current, values.other};
  with_memory("sorting pairs:", n, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, k, v, n, 0, static_cast<int>(bits),
                                           s.handle());
  });
  keys = {k.Current(), k.Alternate()};
  values = {v.Current(), v.Alternate()};
}

std::uint64_t run_lengths(std::uint32_t const* keys, std::uint64_t n, std::uint32_t* unique,
                          std::uint64_t* lengths, warden::stream_ref s) {
  warden::buffer<std::uint64_t> runs{1};
  // Run-length encoding without DeviceRunLengthEncode, which counts in int.
  with_memory("runs among keys:", n, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceReduce::ReduceByKey(memory, bytes, keys, unique,
                                          thrust::constant_iterator<std::uint64_t>{1}, lengths,
                                          runs.data(), plus{}, n, s.handle());
  });
  return runs.to_host(s)[0];
}

void exclusive_sum(std::uint64_t* values, std::uint64_t n, warden::stream_ref s) {
  with_memory("adding up numbers:", n, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, values, values, n, s.handle());
  });
}

}  // namespace graph
