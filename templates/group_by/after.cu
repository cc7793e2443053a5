// SPDX-License-Identifier: Apache-2.0
// After: no atomics, no carries between them, and any number of groups. A section adds one row to
// its group, and sections of one group combine. Copy this file and edit the places marked 1 to 4.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred.cuh>
#include <warden/sections.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

using amount = unsigned __int128;

// 1. The record: a group.
struct total {
  amount sum;
  unsigned long long rows;
};

// 2. The section: which members of the group a row updates, and how.
using add = warden::aggregate<amount, warden::sum<&total::sum>, warden::count<&total::rows>>;
using table = warden::guarded<total, add>;

int main() {
  std::uint32_t const n_regions = 100, n = 20000;
  std::vector<std::uint32_t> host_regions(n);
  std::vector<amount> host_amounts(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    host_regions[i] = i * 7919 % 1000 % n_regions;
    host_amounts[i] = amount{i % 3} << 64 | (~0ull - i);
  }
  warden::buffer<std::uint32_t> const regions{host_regions};
  warden::buffer<amount> const amounts{host_amounts};
  warden::buffer<total> totals{n_regions};
  totals.fill_bytes(0);

  // 3. Instead of the kernel: a section for each row, add{amounts[i]} on group regions[i].
  table t{totals};
  t.apply_async(regions, amounts);
  // 4. The result; throws all errors.
  t.wait();
  total const found = totals.to_host()[19];
  std::printf("region 19: %llu rows, sum %llu * 2^64 + %llu\n", found.rows,
              static_cast<unsigned long long>(found.sum >> 64),
              static_cast<unsigned long long>(found.sum));
}
