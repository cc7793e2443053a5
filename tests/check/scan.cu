// SPDX-License-Identifier: Apache-2.0
// Exclusive prefix sums of one block, by the work-efficient algorithm in dynamic shared memory.
#include <cstdio>
#include <vector>

__global__ void scan(int* values, int n) {
  extern __shared__ int sums[];
  int const i = threadIdx.x;
  sums[2 * i] = values[2 * i];
  sums[2 * i + 1] = values[2 * i + 1];
  int offset = 1;
  for (int d = n / 2; d > 0; d /= 2) {
    __syncthreads();
    if (i < d) sums[offset * (2 * i + 2) - 1] += sums[offset * (2 * i + 1) - 1];
    offset *= 2;
  }
  if (i == 0) sums[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset /= 2;
#ifndef FAULT
    __syncthreads();
#endif
    if (i < d) {
      int const left = offset * (2 * i + 1) - 1, right = offset * (2 * i + 2) - 1;
      int const before = sums[left];  // fault
      sums[left] = sums[right];       // fault
      sums[right] += before;          // fault
    }
  }
  __syncthreads();
  values[2 * i] = sums[2 * i];
  values[2 * i + 1] = sums[2 * i + 1];
}

int main() {
  int const n = 128;
  std::vector<int> host(n), result(n);
  for (int i = 0; i < n; ++i) host[i] = i % 5;
  int* values;
  cudaMalloc(&values, n * sizeof(int));
  cudaMemcpy(values, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan<<<1, n / 2, n * sizeof(int)>>>(values, n);
  cudaMemcpy(result.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost);
  int expected = 0, wrong = 0;
  for (int i = 0; i < n; expected += host[i++]) wrong += result[i] != expected;
  std::printf("%d wrong sums\n", wrong);
  cudaFree(values);
  return wrong != 0;
}
