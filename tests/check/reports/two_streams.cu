// SPDX-License-Identifier: Apache-2.0
// A kernel reads what a kernel of another stream writes; with the fault no event orders them.
#include <cstdio>

__global__ void produce(int* values) {
  values[threadIdx.x] = threadIdx.x;  // fault
}
__global__ void consume(int const* values, int* sum) {
  atomicAdd(sum, values[threadIdx.x]);  // fault
}

int main() {
  int const n = 32;
  int *values, *sum, result;
  cudaMalloc(&values, n * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(values, 0, n * sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  cudaStream_t writes, reads;
  cudaStreamCreate(&writes);
  cudaStreamCreate(&reads);
  cudaEvent_t written;
  cudaEventCreate(&written);
  produce<<<1, n, 0, writes>>>(values);
  cudaEventRecord(written, writes);
#ifndef FAULT
  cudaStreamWaitEvent(reads, written, 0);
#endif
  consume<<<1, n, 0, reads>>>(values, sum);
  cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", result);
  return result == n * (n - 1) / 2 ? 0 : 1;
}
