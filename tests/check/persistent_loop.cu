// SPDX-License-Identifier: Apache-2.0
// Persistent blocks that do rounds of a stencil and meet at a barrier of the grid between them.
#include <cstdio>
#include <utility>
#include <vector>

__device__ unsigned arrived;

__device__ void meet(unsigned blocks, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1u);
    while (atomicAdd(&arrived, 0u) < blocks * round) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void smooth(int* from, int* to, int n, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      to[i] = from[(i + n - 1) % n] + from[(i + 1) % n];  // fault
#ifndef FAULT
    meet(gridDim.x, round);
#else
    __syncthreads();
#endif
    int* const before = from;
    from = to;
    to = before;
  }
}

int main() {
  int const n = 32, blocks = 4, threads = 8, rounds = 3;
  std::vector<int> host(n), result(n);
  for (int i = 0; i < n; ++i) host[i] = i % 3;
  int *a, *b;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMemcpy(a, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  unsigned const none = 0;
  cudaMemcpyToSymbol(arrived, &none, sizeof(none));
  int round_count = rounds, size = n;
  void* arguments[] = {&a, &b, &size, &round_count};
  cudaLaunchCooperativeKernel((void*)smooth, dim3(blocks), dim3(threads), arguments, 0, 0);
  cudaMemcpy(result.data(), rounds % 2 == 1 ? b : a, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> next(n);
    for (int i = 0; i < n; ++i) next[i] = host[(i + n - 1) % n] + host[(i + 1) % n];
    host = next;
  }
  std::printf("%s\n", result == host ? "right" : "wrong");
  cudaFree(a);
  cudaFree(b);
  return result == host ? 0 : 1;
}
