// SPDX-License-Identifier: Apache-2.0
// Histogram of bytes: each block counts in shared memory and then adds to the total.
#include <cstdio>
#include <vector>

constexpr int bins = 16;

__global__ void count(unsigned char const* bytes, int n, unsigned* total) {
  __shared__ unsigned of_block[bins];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) of_block[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&of_block[bytes[i] % bins], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
#ifndef FAULT
    atomicAdd(&total[b], of_block[b]);
#else
    total[b] += of_block[b];  // fault
#endif
  }
}

int main() {
  int const n = 600;
  std::vector<unsigned char> host(n);
  std::vector<unsigned> expected(bins), result(bins);
  for (int i = 0; i < n; ++i) {
    host[i] = static_cast<unsigned char>(i * i);
    ++expected[host[i] % bins];
  }
  unsigned char* bytes;
  unsigned* total;
  cudaMalloc(&bytes, n);
  cudaMalloc(&total, bins * sizeof(unsigned));
  cudaMemcpy(bytes, host.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(total, 0, bins * sizeof(unsigned));
  count<<<dim3(3), dim3(64)>>>(bytes, n, total);
  cudaMemcpy(result.data(), total, bins * sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::printf("%s\n", result == expected ? "right" : "wrong");
  cudaFree(bytes);
  cudaFree(total);
  return result == expected ? 0 : 1;
}
