// SPDX-License-Identifier: Apache-2.0
// Tiles of 4 lanes that lock a key; with the fault a tile that holds its lock waits for the whole
// warp.
#include <cstdio>

__global__ void count(int* locks, int* counts, int keys) {
  unsigned const lane = threadIdx.x % 32, tile = 0xfu << lane / 4 * 4;
  int const key = threadIdx.x / 4 % keys;
  int got = 0;
  do {
    if (lane % 4 == 0) got = atomicCAS(&locks[key], 0, 1) == 0;
    got = __shfl_sync(tile, got, lane / 4 * 4);  // fault
  } while (!got);
  __threadfence();
  if (lane % 4 == 0) counts[key] += 1;
#ifdef FAULT
  __syncwarp();  // fault
#else
  __syncwarp(tile);
#endif
  __threadfence();
  if (lane % 4 == 0) atomicExch(&locks[key], 0);
}

int main() {
  int const keys = 3, blocks = 2, threads = 64;
  int *words, counts[keys], sum = 0;
  cudaMalloc(&words, 2 * keys * sizeof(int));
  cudaMemset(words, 0, 2 * keys * sizeof(int));
  count<<<blocks, threads>>>(words, words + keys, keys);
  cudaMemcpy(counts, words + keys, sizeof(counts), cudaMemcpyDeviceToHost);
  for (int c : counts) sum += c;
  std::printf("%d\n", sum);
  return sum == blocks * threads / 4 ? 0 : 1;
}
