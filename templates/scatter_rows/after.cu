// SPDX-License-Identifier: Apache-2.0
// After: no sort. A group of 16 lanes adds a row, and rows of one id combine in a tree that depends
// on their number alone, so the bits are the same in every run, and many warps work on an id with
// many rows. Copy this file and edit the places marked 1 to 4.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred.cuh>
#include <warden/sections.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

// 1. The record: a row.
using row = warden::elements<float, 64>;

// 2. The section: adds a row to a row. Each of 16 lanes adds 4 columns.
using repeatable = warden::policy<warden::options{}, warden::order::deterministic>;
using table = warden::basic_guarded<repeatable, row, warden::add<row>>;

int main() {
  std::uint32_t const n_out = 100, n = 5000;
  std::vector<std::uint32_t> host_ids(n);
  std::vector<row> host_rows(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    host_ids[i] = i % 2 == 0 ? 7 : i % n_out;
    for (unsigned k = 0; k < 64; ++k) host_rows[i][k] = 0.25f * static_cast<float>(k);
  }
  warden::buffer<std::uint32_t> const ids{host_ids};
  warden::buffer<row> const rows{host_rows};
  warden::buffer<row> out{n_out};
  out.fill_bytes(0);

  // 3. Instead of the sort and the kernel: adds rows[i] to row ids[i] of the table.
  table t{out};
  t.apply_async(ids, rows);
  // 4. The result; throws all errors.
  t.wait();
  row const found = out.to_host()[7];
  std::printf("row 7: %.2f to %.2f\n", static_cast<double>(found[1]),
              static_cast<double>(found[63]));
}
