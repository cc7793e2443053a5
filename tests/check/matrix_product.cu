// SPDX-License-Identifier: Apache-2.0
// Product of two square matrices by tiles in shared memory.
#include <cstdio>
#include <vector>

constexpr int side = 8, tile = 4;

__global__ void multiply(float const* a, float const* b, float* product) {
  __shared__ float of_a[tile][tile], of_b[tile][tile];
  int const row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < side / tile; ++t) {
    of_a[threadIdx.y][threadIdx.x] = a[row * side + t * tile + threadIdx.x];       // fault
    of_b[threadIdx.y][threadIdx.x] = b[(t * tile + threadIdx.y) * side + column];  // fault
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];  // fault
#ifndef FAULT
    __syncthreads();
#endif
  }
  product[row * side + column] = sum;
}

int main() {
  std::vector<float> a(side * side), b(side * side), result(side * side);
  for (int i = 0; i < side * side; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  float *device_a, *device_b, *product;
  size_t const bytes = side * side * sizeof(float);
  cudaMalloc((void**)&device_a, bytes);
  cudaMalloc((void**)&device_b, bytes);
  cudaMalloc((void**)&product, bytes);
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);
  dim3 threads(tile, tile), blocks(side / tile, side / tile);
  multiply<<<blocks, threads>>>(device_a, device_b, product);
  cudaMemcpy(result.data(), product, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      float sum = 0;
      for (int k = 0; k < side; ++k) sum += a[i * side + k] * b[k * side + j];
      wrong += result[i * side + j] != sum;
    }
  }
  std::printf("%d wrong elements\n", wrong);
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(product);
  return wrong != 0;
}
