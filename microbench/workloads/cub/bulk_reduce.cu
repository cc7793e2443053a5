// SPDX-License-Identifier: Apache-2.0
// Scatter-add of rows by bulk reductions, which add a row of shared memory to one in global memory.
// The order of the additions changes.

#include "microbench/workloads/scatter.cuh"

#include <warden/cuda_names.cuh>

#include <cuda/ptx>
#include <nv/target>

#include <cstdint>

namespace workloads {
namespace {

template <unsigned Floats>
struct bulk_arguments {
  float_rows<Floats> rows;
  float* out;
};
constexpr unsigned bulk_threads = 256;

/// Each warp loads 32 rows. Lane l adds row l.
template <unsigned Floats>
__device__ void add_rows(bulk_arguments<Floats> const& a) {
  WARDEN_DYNAMIC_SHARED(float4, memory);
  constexpr unsigned warp_rows = 32, parts = Floats / 4;  // a part has 16 bytes
  float4* const mine = memory + threadIdx.x / 32 * warp_rows * parts;
  float4 const* const values = reinterpret_cast<float4 const*>(a.rows.values);
  unsigned const lane = threadIdx.x % 32, warps = gridDim.x * (bulk_threads / 32);
  for (std::uint32_t first = (blockIdx.x * bulk_threads + threadIdx.x) / 32 * warp_rows;
       first < a.rows.n; first += warps * warp_rows) {
    std::uint32_t const rows = min(warp_rows, a.rows.n - first);
    WARDEN_UNROLL
    for (unsigned k = 0; k < parts; ++k) {
      unsigned const part = k * 32 + lane;
      if (part < rows * parts) mine[part] = values[std::uint64_t{first} * parts + part];
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    warden::simt::sync_warp(warden::simt::full_warp);
    if (lane < rows) {
      cuda::ptx::cp_reduce_async_bulk(
          cuda::ptx::space_global, cuda::ptx::space_shared, cuda::ptx::op_add,
          a.out + std::uint64_t{a.rows.ids[first + lane]} * Floats,
          reinterpret_cast<float const*>(mine + lane * parts), Floats * 4u);
    }
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>{});
    warden::simt::sync_warp(warden::simt::full_warp);
  }
  cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>{});
}
template <unsigned Floats>
WARDEN_KERNEL void add_in_bulk(bulk_arguments<Floats> const a) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (add_rows(a);))
}

template <unsigned Floats>
arm make_bulk_reduce(scatter_work<Floats>& w) {
  return {[a = bulk_arguments<Floats>{w.rows(), w.out()}] {
    launch_resident(&add_in_bulk<Floats>, bulk_threads, bulk_threads * Floats * 4, a);
  }};
}
template <unsigned Floats>
void add_if_possible(arm_makers<scatter_work<Floats>>& to) {
  auto const device = warden::runtime::current_device();
  if (warden::runtime::facts(device).compute_capability >= 90)
    to["bulk_reduce"] = make_bulk_reduce<Floats>;
}

}  // namespace

void add_bulk_arms(arm_makers<scatter_work<8>>& to) { add_if_possible(to); }
void add_bulk_arms(arm_makers<scatter_work<64>>& to) { add_if_possible(to); }

}  // namespace workloads
