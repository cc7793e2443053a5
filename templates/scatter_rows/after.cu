// SPDX-License-Identifier: Apache-2.0
// After: no sort. A group of 16 lanes adds a row, and rows of one id combine in a tree that depends
// on their number alone, so the bits are the same in every run, and many warps work on an id with
// many rows. Copy this file and edit the places marked 1 to 4.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

// 1. The record: a row. Each of 16 lanes holds 4 of its columns.
constexpr unsigned width = 64, lanes = 16;
struct row {
  float4 v[lanes];
};

// 2. The section: what one or several rows add to the columns of a lane.
__device__ float4 sum(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
struct add {
  static constexpr unsigned group_size = lanes;
  float4 v;
  __device__ static add combine(add const& a, add const& b) { return {sum(a.v, b.v)}; }
  __device__ void operator()(row& r, warden::lane_group<lanes> const& group) const {
    r.v[group.lane()] = sum(r.v[group.lane()], v);
  }
};
using repeatable = warden::policy<warden::options{}, warden::order::deterministic>;
using table = warden::basic_guarded<repeatable, row, add>;

int main() {
  std::uint32_t const n_out = 100, n = 5000;
  std::vector<std::uint32_t> host_ids(n);
  std::vector<float> host_rows(n * width);
  for (std::uint32_t i = 0; i < n; ++i) {
    host_ids[i] = i % 2 == 0 ? 7 : i % n_out;
    for (unsigned k = 0; k < width; ++k) host_rows[i * width + k] = 0.25f * static_cast<float>(k);
  }
  warden::buffer<std::uint32_t> const ids{host_ids};
  warden::buffer<float> const values{host_rows};
  warden::buffer<row> out{n_out};
  out.fill_bytes(0);

  // 3. Instead of the sort and the kernel: a function that returns a lane's columns of row i.
  table t{out};
  auto const* const rows = reinterpret_cast<row const*>(values.data());
  t.apply_async(ids.data(), n,
                [=] __device__(std::uint64_t i, warden::lane_group<lanes> const& group) {
                  return add{rows[i].v[group.lane()]};
                });
  // 4. The result; throws all errors.
  t.wait();
  row const found = out.to_host()[7];
  std::printf("row 7: %.2f to %.2f\n", static_cast<double>(found.v[0].y),
              static_cast<double>(found.v[lanes - 1].w));
}
