// SPDX-License-Identifier: Apache-2.0
// Before: SELECT region, SUM(amount), COUNT(*) ... GROUP BY region. Each block adds in shared
// memory by atomics with carries, if all groups fit there, and then in global memory. Plain CUDA,
// without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// An amount has 128 bits.
struct amount {
  unsigned long long low, high;
};
struct total {
  amount sum;
  unsigned long long rows;
};

__device__ void add(total& t, amount a, unsigned long long rows) {
  unsigned long long const old = atomicAdd(&t.sum.low, a.low);
  atomicAdd(&t.sum.high, a.high + (old + a.low < old));
  atomicAdd(&t.rows, rows);
}
__global__ void sum_up(std::uint32_t const* regions, amount const* amounts, std::uint32_t n,
                       total* totals, std::uint32_t n_regions) {
  // Other kernels are needed if the groups do not fit shared memory.
  extern __shared__ total mine[];
  for (std::uint32_t r = threadIdx.x; r < n_regions; r += blockDim.x) mine[r] = {{0, 0}, 0};
  __syncthreads();
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    add(mine[regions[i]], amounts[i], 1);
  __syncthreads();
  for (std::uint32_t r = threadIdx.x; r < n_regions; r += blockDim.x)
    add(totals[r], mine[r].sum, mine[r].rows);
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}
template <class T>
T* copy_of(std::vector<T> const& host) {
  T* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(T)));
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

int main() {
  std::uint32_t const n_regions = 100, n = 20000;
  std::vector<std::uint32_t> regions(n);
  std::vector<amount> amounts(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    regions[i] = i * 7919 % 1000 % n_regions;
    amounts[i] = {~0ull - i, i % 3};
  }
  std::uint32_t* const device_regions = copy_of(regions);
  amount* const device_amounts = copy_of(amounts);
  total* const totals = copy_of(std::vector<total>(n_regions));
  sum_up<<<8, 256, n_regions * sizeof(total)>>>(device_regions, device_amounts, n, totals,
                                                n_regions);
  check(cudaGetLastError());

  std::vector<total> found(n_regions);
  check(cudaMemcpy(found.data(), totals, n_regions * sizeof(total), cudaMemcpyDeviceToHost));
  total const t = found[19];
  std::printf("region 19: %llu rows, sum %llu * 2^64 + %llu\n", t.rows, t.sum.high, t.sum.low);
  check(cudaFree(device_regions));
  check(cudaFree(device_amounts));
  check(cudaFree(totals));
}
