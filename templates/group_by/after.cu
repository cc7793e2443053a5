// SPDX-License-Identifier: Apache-2.0
// After: no atomics, no carries between them, and any number of groups. A section adds one row to
// its group, and sections of one group combine. Copy this file and edit the places marked 1 to 4.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

// An amount has 128 bits.
struct amount {
  unsigned long long low, high;
};

// 1. The record: a group.
struct total {
  amount sum;
  unsigned long long rows;
};

// 2. The section: what one or several rows of a group add to it.
struct add {
  amount sum;
  unsigned long long rows;
  __device__ static add combine(add a, add const& b) {
    a.sum.low += b.sum.low;
    a.sum.high += b.sum.high + (a.sum.low < b.sum.low);
    a.rows += b.rows;
    return a;
  }
  __device__ void operator()(total& t) const {
    add const now = combine(add{t.sum, t.rows}, *this);
    t = {now.sum, now.rows};
  }
};
using table = warden::guarded<total, add>;

int main() {
  std::uint32_t const n_regions = 100, n = 20000;
  std::vector<std::uint32_t> host_regions(n);
  std::vector<amount> host_amounts(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    host_regions[i] = i * 7919 % 1000 % n_regions;
    host_amounts[i] = {~0ull - i, i % 3};
  }
  warden::buffer<std::uint32_t> const regions{host_regions};
  warden::buffer<amount> const amounts{host_amounts};
  warden::buffer<total> totals{n_regions};
  totals.fill_bytes(0);

  // 3. Instead of the kernel: a function that returns the section of row i.
  table t{totals};
  t.apply_async(regions.data(), n, [rows = amounts.data()] __device__(std::uint64_t i) {
    return add{rows[i], 1};
  });
  // 4. The result; throws all errors.
  t.wait();
  total const found = totals.to_host()[19];
  std::printf("region 19: %llu rows, sum %llu * 2^64 + %llu\n", found.rows, found.sum.high,
              found.sum.low);
}
