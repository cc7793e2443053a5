// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device-wide algorithms of the applications, by CUB. For the simulated device the header of this
/// name in simulated/ is used.
#pragma once

#include "apps/support/scratch.cuh"

#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

namespace apps {

namespace detail {

/// Calls `algorithm(memory, bytes)` twice, as CUB requires: first to get the bytes, then with
/// memory.
template <class Algorithm>
void with_scratch(char const* what, scratch& memory, Algorithm algorithm) {
  auto const check = [&](cudaError_t code) {
    if (code == cudaSuccess) return;
    cudaGetLastError();  // not sticky: the next call must not report it again
    throw warden::cuda_error{static_cast<int>(code),
                             std::string{what} + ": " + cudaGetErrorString(code),
                             std::source_location::current()};
  };
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes));
  check(algorithm(memory.of(bytes), bytes));
}
template <class Make>
auto made_by(Make make) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>{0}, make);
}

}  // namespace detail

/// Calls `put(j, x)` for j = 0, 1, ... with those x = `make(i)` in the order of i = 0 to n - 1 for
/// which `keep(x)`, and writes their number to `count`, in device memory; enqueued. Throws
/// cuda_error.
template <class Make, class Keep, class Put>
void select_async(std::int64_t n, Make make, Keep keep, Put put, std::uint32_t* count,
                  scratch& memory, warden::stream_ref s = {}) {
  detail::with_scratch("selecting", memory, [&](void* bytes, std::size_t& size) {
    return cub::DeviceSelect::If(bytes, size, detail::made_by(make),
                                 thrust::make_tabulate_output_iterator(put), count, n, keep,
                                 s.handle());
  });
}
/// Like select_async, in two parts: `counts[0]` elements that are `first(x)`, and `counts[1]` of
/// the others that are `second(x)`.
template <class Make, class First, class Second, class PutFirst, class PutSecond>
void partition_async(std::int64_t n, Make make, First first, Second second, PutFirst put_first,
                     PutSecond put_second, std::uint32_t* counts, scratch& memory,
                     warden::stream_ref s = {}) {
  detail::with_scratch("partitioning", memory, [&](void* bytes, std::size_t& size) {
    return cub::DevicePartition::If(
        bytes, size, detail::made_by(make), thrust::make_tabulate_output_iterator(put_first),
        thrust::make_tabulate_output_iterator(put_second), thrust::make_discard_iterator(), counts,
        n, first, second, s.handle());
  });
}
/// Writes to `sums[i]` the sum of `value(j)` over j below i, for i = 0 to n - 1; enqueued. Throws
/// cuda_error.
template <class Value>
void exclusive_sum_async(std::int64_t n, Value value, std::uint32_t* sums, scratch& memory,
                         warden::stream_ref s = {}) {
  detail::with_scratch("adding up", memory, [&](void* bytes, std::size_t& size) {
    return cub::DeviceScan::ExclusiveSum(bytes, size, detail::made_by(value), sums, n, s.handle());
  });
}

}  // namespace apps
