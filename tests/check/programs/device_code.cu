// SPDX-License-Identifier: Apache-2.0
// Device code of CUDA's other headers: cooperative groups, atomics and barriers of libcu++, numbers
// of 16 bits, random numbers. Prints the lines in which a value is not as CUDA says.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <device_launch_parameters.h>

#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/atomic>
#include <vector>

namespace cg = cooperative_groups;

__device__ int wrong;
#define EXPECT(condition)                                                                     \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      printf("%d, block %d, thread %d: %s\n", __LINE__, blockIdx.x, threadIdx.x, #condition); \
      atomicAdd(&wrong, 1);                                                                   \
    }                                                                                         \
  } while (false)

__global__ void groups() {
  cg::thread_block const block = cg::this_thread_block();
  EXPECT(block.size() == 40 && block.thread_rank() == threadIdx.x);
  EXPECT(block.group_index().x == blockIdx.x && block.thread_index().x == threadIdx.x);
  block.sync();
  auto const tile = cg::tiled_partition<8>(block);
  int const rank = tile.thread_rank();
  EXPECT(tile.size() == 8 && rank == threadIdx.x % 8 && tile.meta_group_rank() == threadIdx.x / 8);
  EXPECT(tile.meta_group_size() == 5);
  EXPECT(tile.shfl(10 * rank, 3) == 30);
  EXPECT(tile.shfl_up(rank, 2) == (rank < 2 ? rank : rank - 2));
  EXPECT(tile.shfl_down(double(rank), 1) == (rank == 7 ? 7 : rank + 1));
  EXPECT(tile.shfl_xor(rank, 4) == (rank ^ 4));
  EXPECT(tile.ballot(rank % 2) == 0xaau && tile.any(rank == 5) && !tile.all(rank == 5));
  EXPECT(tile.match_any(rank / 4) == (rank < 4 ? 0x0fu : 0xf0u));
  EXPECT(cg::reduce(tile, rank, cg::plus<int>()) == 28);
  EXPECT(cg::reduce(tile, rank, cg::greater<int>()) == 7);
  EXPECT(cg::inclusive_scan(tile, rank) == rank * (rank + 1) / 2);
  EXPECT(cg::exclusive_scan(tile, 1) == rank);
  auto const half = cg::tiled_partition<4>(tile);
  EXPECT(half.shfl(rank, 0) == rank / 4 * 4);
  cg::thread_group const dynamic = cg::tiled_partition(block, 16);
  EXPECT(dynamic.size() == (threadIdx.x < 32 ? 16 : 8) &&
         dynamic.thread_rank() == threadIdx.x % 32 % 16);
  dynamic.sync();
  if (threadIdx.x % 3 == 0) {
    cg::coalesced_group const lanes = cg::coalesced_threads();
    EXPECT(lanes.size() >= 1 && lanes.thread_rank() < lanes.size());
    EXPECT(cg::reduce(lanes, 1, cg::plus<int>()) == lanes.size());
    lanes.sync();
  }
  auto const odd = cg::binary_partition(tile, rank % 2 == 1);
  EXPECT(odd.size() == 4 && odd.thread_rank() == rank / 2);
  cg::sync(block);
}

__global__ void rounds(int* values, int n) {
  cg::grid_group const grid = cg::this_grid();
  EXPECT(grid.is_valid() && grid.size() == n && grid.num_blocks() == gridDim.x);
  int const i = static_cast<int>(grid.thread_rank());
  for (int round = 0; round < 3; ++round) {
    int const next = values[(i + 1) % n];
    grid.sync();
    values[i] = next + 1;
    grid.sync();
  }
}

struct published {
  int data;
  cuda::atomic<int, cuda::thread_scope_device> ready;
};

__global__ void publish(published* p, int* sum) {
  if (blockIdx.x == 0) {
    p->data = 42;
    p->ready.store(1, cuda::memory_order_release);
  } else {
    while (p->ready.load(cuda::memory_order_acquire) == 0) {
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> total(*sum);
    total.fetch_add(p->data, cuda::memory_order_relaxed);
    total += 1;
    int expected = -1;
    EXPECT(!total.compare_exchange_strong(expected, 0) && expected > 0);
    cuda::atomic_ref<int>(sum[1]).fetch_max(static_cast<int>(blockIdx.x));
  }
}

__global__ void lock(cuda::std::atomic<bool>* flag, int* count) {
  if (threadIdx.x != 0) return;
  while (flag->exchange(true, cuda::std::memory_order_acquire)) {
  }
  *count += 1;
  flag->store(false, cuda::std::memory_order_release);
}

__global__ void phases(int const* from, int* to) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[32];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(cg::this_thread_block(), values, from, sizeof(values), barrier);
  barrier.arrive_and_wait();
  int const next = values[(threadIdx.x + 1) % 32];
  auto token = barrier.arrive();
  barrier.wait(std::move(token));
  values[threadIdx.x] = next;
  if (threadIdx.x == 31) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  to[threadIdx.x] = values[(threadIdx.x + 1) % 32];
  barrier.arrive_and_wait();
}

__global__ void numbers(__half2* halves) {
  __half const a = __float2half(1.5f), b = __float2half(0.1f);
  EXPECT(__half_as_ushort(a) == 0x3e00 && __half_as_ushort(b) == 0x2e66);
  EXPECT(__half2float(__hadd(a, a)) == 3.0f && __hgt(a, b) && float(a * a) == 2.25f);
  EXPECT(__half2float(__float2half(70000.0f)) == INFINITY);
  halves[threadIdx.x] = __hfma2(__float2half2_rn(2.0f), __halves2half2(a, b), make_half2(a, a));
  EXPECT(__low2float(halves[threadIdx.x]) == 4.5f);
  curandState state;
  curand_init(1234, threadIdx.x, 0, &state);
  float sum = 0;
  for (int i = 0; i < 64; ++i) {
    float const u = curand_uniform(&state);
    EXPECT(u > 0 && u <= 1);
    sum += u;
  }
  EXPECT(sum > 16 && sum < 48);
  EXPECT(__sinf(0.0f) == 0 && __powf(2.0f, 3.0f) == 8 && rsqrtf(4.0f) == 0.5f);
  EXPECT(min(3, 5) == 3 && max(2.0f, 1.0f) == 2.0f && fminf(1.0f, 2.0f) == 1.0f && abs(-3) == 3);
  long long const begin = clock64();
  __nanosleep(10);
  EXPECT(clock64() >= begin);
}

int main() {
  int bad = 0;
  auto expect = [&](bool condition, int line) {
    if (!condition) std::printf("%d\n", line), ++bad;
  };
  groups<<<2, 40>>>();

  int const n = 8;
  int *values, *sums, host[32], sum[2];
  cudaMalloc(&values, 32 * sizeof(int));
  cudaMalloc(&sums, 2 * sizeof(int));
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
  int size = n;
  void* arguments[] = {&values, &size};
  expect(cudaLaunchCooperativeKernel((void*)rounds, n / 4, 4, arguments) == cudaSuccess, __LINE__);
  cudaMemcpy(host, values, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) expect(host[i] == (i + 3) % n + 3, __LINE__);

  published* p;
  cudaMalloc(&p, sizeof(published));
  cudaMemset(p, 0, sizeof(published));
  cudaMemset(sums, 0, 2 * sizeof(int));
  publish<<<4, 1>>>(p, sums);
  cudaMemcpy(sum, sums, sizeof(sum), cudaMemcpyDeviceToHost);
  expect(sum[0] == 3 * 43 && sum[1] == 3, __LINE__);

  cuda::std::atomic<bool>* flag;
  cudaMallocManaged(&flag, sizeof(*flag));
  flag->store(false);
  cudaMemset(sums, 0, 2 * sizeof(int));
  lock<<<5, 2>>>(flag, sums);
  cudaMemcpy(sum, sums, sizeof(int), cudaMemcpyDeviceToHost);
  expect(sum[0] == 5, __LINE__);

  for (int i = 0; i < 32; ++i) host[i] = i * i;
  cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
  phases<<<1, 32>>>(values, values);
  int moved[32];
  cudaMemcpy(moved, values, sizeof(moved), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 31; ++i) expect(moved[i] == host[(i + 2) % 32], __LINE__);

  __half2* halves;
  cudaMalloc(&halves, 4 * sizeof(__half2));
  numbers<<<1, 4>>>(halves);
  cudaDeviceSynchronize();
  int found = -1;
  cudaMemcpyFromSymbol(&found, wrong, sizeof(found));
  return bad + found;
}
