// SPDX-License-Identifier: Apache-2.0
// The last block to finish adds up what all blocks left; with the fault it counts blocks without a
// fence.
#include <cstdio>

__global__ void sum_up(int const* values, int* partial, unsigned* finished, int* sum) {
  int mine = 0;
  for (int i = 0; i < 4; ++i) mine += values[4 * blockIdx.x + i];
  partial[blockIdx.x] = mine;  // fault
#ifndef FAULT
  __threadfence();
#endif
  if (atomicAdd(finished, 1u) != gridDim.x - 1) return;
  __threadfence();
  int all = 0;
  for (int b = 0; b < gridDim.x; ++b) all += partial[b];  // fault
  *sum = all;
}

int main() {
  int const blocks = 8;
  int host[4 * blocks], *values, *partial, *sum, result;
  unsigned* finished;
  for (int i = 0; i < 4 * blocks; ++i) host[i] = i;
  cudaMalloc(&values, sizeof(host));
  cudaMalloc(&partial, blocks * sizeof(int));
  cudaMalloc(&finished, sizeof(unsigned));
  cudaMalloc(&sum, sizeof(int));
  cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemset(finished, 0, sizeof(unsigned));
  sum_up<<<blocks, 1>>>(values, partial, finished, sum);
  cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", result);
  return result == 4 * blocks * (4 * blocks - 1) / 2 ? 0 : 1;
}
