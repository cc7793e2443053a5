// SPDX-License-Identifier: Apache-2.0
// One block fills slots and raises a flag for each, another block waits for the flags and adds up
// the slots. Both blocks are resident.
#include <cstdio>

constexpr int slots = 8, words = 4;

struct channel {
  int data[slots][words];
  int volatile ready[slots];
};

__global__ void run(channel* c, int* sum) {
  if (blockIdx.x == 0) {
    for (int s = 0; s < slots; ++s) {
      c->data[s][threadIdx.x] = s * words + threadIdx.x;  // fault
      __syncthreads();
      if (threadIdx.x == 0) {
#ifndef FAULT
        __threadfence();
#endif
        c->ready[s] = 1;
      }
    }
    return;
  }
  int mine = 0;
  for (int s = 0; s < slots; ++s) {
    if (threadIdx.x == 0) {
      while (c->ready[s] == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    mine += c->data[s][threadIdx.x];  // fault
  }
  atomicAdd(sum, mine);
}

int main() {
  channel* c;
  int *sum, result;
  cudaMalloc(&c, sizeof(channel));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(c, 0, sizeof(channel));
  cudaMemset(sum, 0, sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  run<<<2, words, 0, stream>>>(c, sum);
  cudaMemcpyAsync(&result, sum, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  int const expected = slots * words * (slots * words - 1) / 2;
  std::printf("sum %d, expected %d\n", result, expected);
  cudaFree(c);
  cudaFree(sum);
  return result == expected ? 0 : 1;
}
