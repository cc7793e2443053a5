// SPDX-License-Identifier: Apache-2.0
// A queue in device memory that threads of several blocks append to, under a spin lock.
#include <cstdio>
#include <vector>

constexpr int capacity = 64;

class lock {
 public:
  __device__ void acquire() {
    while (atomicCAS(&state_, 0, 1) != 0) __nanosleep(20);
    __threadfence();
  }
  __device__ void release() {
#ifndef FAULT
    __threadfence();
#endif
    atomicExch(&state_, 0);
  }

 private:
  int state_;
};

struct queue {
  lock mutex;
  int size;
  int items[capacity];
};

__global__ void append(queue* q) {
  // One thread of each warp: lanes that spin would wait for each other on older GPUs.
  if (threadIdx.x % 32 != 0) return;
  q->mutex.acquire();
  q->items[q->size] = blockIdx.x;  // fault
  q->size += 1;                    // fault
  q->mutex.release();
}

int main() {
  int const blocks = 6, warps = 2;
  queue* q;
  cudaMalloc(&q, sizeof(queue));
  cudaMemset(q, 0, sizeof(queue));
  append<<<blocks, 32 * warps>>>(q);
  queue result;
  cudaMemcpy(&result, q, sizeof(queue), cudaMemcpyDeviceToHost);
  std::vector<int> counts(blocks);
  for (int i = 0; i < result.size; ++i) ++counts[result.items[i]];
  std::printf("%d items\n", result.size);
  cudaFree(q);
  return counts == std::vector<int>(blocks, warps) ? 0 : 1;
}
