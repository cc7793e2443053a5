// SPDX-License-Identifier: Apache-2.0
// A barrier of all blocks, made of a counter; with the fault there are more blocks than the device
// holds together.
#include <cstdio>

__global__ void meet(unsigned* arrived, int* after) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {  // fault
    }
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(after, 1);
}

int main() {
  int per_multiprocessor = 0, multiprocessors = 0, threads = 64;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, meet, threads, 0);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  int blocks = per_multiprocessor * multiprocessors;
#ifdef FAULT
  ++blocks;
#endif
  unsigned* words;
  int after;
  cudaMalloc(&words, 2 * sizeof(unsigned));
  cudaMemset(words, 0, 2 * sizeof(unsigned));
  meet<<<blocks, threads>>>(words, reinterpret_cast<int*>(words) + 1);
  cudaMemcpy(&after, words + 1, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%s\n", after == blocks ? "right" : "wrong");
  return after == blocks ? 0 : 1;
}
