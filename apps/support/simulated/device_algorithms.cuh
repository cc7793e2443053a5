// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device-wide algorithms for the simulated device, as loops of the host. cub/device_algorithms.cuh
/// describes them.
#pragma once

#include "apps/support/scratch.cuh"

#include <warden/stream.hpp>

#include <cstdint>

namespace apps {

template <class Make, class Keep, class Put>
void select_async(std::int64_t n, Make make, Keep keep, Put put, std::uint32_t* count, scratch&,
                  warden::stream_ref s = {}) {
  s.synchronize();
  *count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    auto const x = make(i);
    if (keep(x)) put((*count)++, x);
  }
}
template <class Make, class First, class Second, class PutFirst, class PutSecond>
void partition_async(std::int64_t n, Make make, First first, Second second, PutFirst put_first,
                     PutSecond put_second, std::uint32_t* counts, scratch&,
                     warden::stream_ref s = {}) {
  s.synchronize();
  counts[0] = counts[1] = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    auto const x = make(i);
    if (first(x)) {
      put_first(counts[0]++, x);
    } else if (second(x)) {
      put_second(counts[1]++, x);
    }
  }
}
template <class Value>
void exclusive_sum_async(std::int64_t n, Value value, std::uint32_t* sums, scratch&,
                         warden::stream_ref s = {}) {
  s.synchronize();
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sums[i] = sum;
    sum += value(i);
  }
}

}  // namespace apps
