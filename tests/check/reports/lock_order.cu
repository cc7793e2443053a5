// SPDX-License-Identifier: Apache-2.0
// Two locks that blocks take in one order; with the fault, every other block in the other order.
#include <cstdio>

__device__ void acquire(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {  // fault
  }
  __threadfence();
}
__device__ void release(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void transfer(int* table, int* pool, int* sum) {
#ifdef FAULT
  bool const swap = blockIdx.x % 2 == 1;
#else
  bool const swap = false;
#endif
  for (int round = 0; round < 5; ++round) {
    acquire(swap ? pool : table);
    acquire(swap ? table : pool);
    *sum += 1;
    release(swap ? table : pool);
    release(swap ? pool : table);
  }
}

int main() {
  int *words, sum;
  cudaMalloc(&words, 3 * sizeof(int));
  cudaMemset(words, 0, 3 * sizeof(int));
  transfer<<<2, 1>>>(words, words + 1, words + 2);
  cudaMemcpy(&sum, words + 2, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", sum);
  return sum == 10 ? 0 : 1;
}
