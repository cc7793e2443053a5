// SPDX-License-Identifier: Apache-2.0
// Sum of an array: each block in shared memory, then one atomic for each block.
#include <cstdio>
#include <vector>

template <int Threads>
__global__ void reduce(float const* values, int n, float* sum) {
  __shared__ float partial[Threads];
  float mine = 0;
  for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads)
    mine += values[i];
  partial[threadIdx.x] = mine;
#ifndef FAULT
  __syncthreads();
#endif
  for (int half = Threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];  // fault
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

int main() {
  int const n = 1000;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i % 7);
  float expected = 0;
  for (float value : host) expected += value;

  float *values, *sum, result;
  cudaMalloc(&values, n * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cudaMemcpy(values, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, sizeof(float));
  reduce<64><<<3, 64>>>(values, n, sum);
  cudaMemcpy(&result, sum, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("sum %g, expected %g\n", result, expected);
  cudaFree(values);
  cudaFree(sum);
  return result == expected ? 0 : 1;
}
