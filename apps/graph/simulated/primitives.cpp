// SPDX-License-Identifier: Apache-2.0
// Device algorithms as loops of the host, which can access the simulated device's memory.

#include "apps/graph/primitives.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace graph {

void sort_pairs(array_pair& keys, array_pair& values, std::uint64_t n, unsigned bits,
                warden::stream_ref s) {
  s.synchronize();
  std::uint32_t const mask = 0xffffffffu >> (32 - bits);
  std::vector<std::uint64_t> order(n);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::uint64_t i, std::uint64_t j) {
    return (keys.current[i] & mask) < (keys.current[j] & mask);
  });
  for (std::uint64_t p = 0; p < n; ++p) {
    keys.other[p] = keys.current[order[p]];
    values.other[p] = values.current[order[p]];
  }
  std::swap(keys.current, keys.other);
  std::swap(values.current, values.other);
}

std::uint64_t run_lengths(std::uint32_t const* keys, std::uint64_t n, std::uint32_t* unique,
                          std::uint64_t* lengths, warden::stream_ref s) {
  s.synchronize();
  std::uint64_t runs = 0;
  for (std::uint64_t p = 0; p < n; ++p) {
    if (p == 0 || keys[p] != keys[p - 1]) {
      unique[runs] = keys[p];
      lengths[runs++] = 0;
    }
    ++lengths[runs - 1];
  }
  return runs;
}

void exclusive_sum(std::uint64_t* values, std::uint64_t n, warden::stream_ref s) {
  s.synchronize();
  std::exclusive_scan(values, values + n, values, std::uint64_t{0});
}

}  // namespace graph
