// SPDX-License-Identifier: Apache-2.0
// Kernels of plain CUDA: right ones, and the same with something left out.
#pragma once

#include <warden/cuda_names.cuh>

namespace plain {

/// The part that may be missing.
enum class with { all, no_barrier, no_acquire, no_release };

/// The sum of all values: each warp by shuffles, each block in shared memory, the grid by atomics.
template <with With>
__global__ void reduce(unsigned const* values, unsigned n, unsigned* sum) {
  WARDEN_SHARED(unsigned[32], of_warp);
  unsigned mine = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += __ldg(&values[i]);
  for (unsigned d = warpSize / 2; d != 0; d /= 2) mine += __shfl_down_sync(~0u, mine, d);
  if (threadIdx.x % warpSize == 0) of_warp[threadIdx.x / warpSize] = mine;
  if (With != with::no_barrier) __syncthreads();
  if (threadIdx.x >= warpSize) return;
  mine = threadIdx.x < blockDim.x / warpSize ? of_warp[threadIdx.x] : 0;
  for (unsigned d = warpSize / 2; d != 0; d /= 2) mine += __shfl_xor_sync(~0u, mine, d);
  if (threadIdx.x == 0) atomicAdd(sum, mine);
}

inline constexpr unsigned tile_side = 8;

/// `to[x][y] = from[y][x]` by tiles, in blocks of tile_side x tile_side threads.
template <with With>
__global__ void transpose(unsigned const* from, unsigned* to, unsigned width, unsigned height) {
  WARDEN_SHARED(unsigned[tile_side][tile_side + 1], tile);
  unsigned const left = blockIdx.x * tile_side, top = blockIdx.y * tile_side;
  if (left + threadIdx.x < width && top + threadIdx.y < height)
    tile[threadIdx.y][threadIdx.x] = from[(top + threadIdx.y) * width + left + threadIdx.x];
  if (With != with::no_barrier) __syncthreads();
  if (left + threadIdx.y < width && top + threadIdx.x < height)
    to[(left + threadIdx.y) * height + top + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

/// Each thread counts up both words once, under the lock.
template <with With>
__global__ void count_under_lock(unsigned* lock, unsigned* words) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0u, 1u) != 0) continue;
    if (With != with::no_acquire) __threadfence();
    __stcg(&words[0], __ldcg(&words[0]) + 1);
    __stcg(&words[1], __ldcg(&words[1]) + 1);
    if (With != with::no_release) __threadfence();
    atomicExch(lock, 0u);
    done = true;
  }
}

}  // namespace plain
