// SPDX-License-Identifier: Apache-2.0
// Transpose of a matrix by tiles in shared memory.
#include <cstdio>
#include <vector>

constexpr int tile = 8;

template <class T, int Side>
__global__ void transpose(T const* __restrict__ from, T* __restrict__ to, int width, int height) {
  __shared__ T part[Side][Side + 1];
  int x = blockIdx.x * Side + threadIdx.x, y = blockIdx.y * Side + threadIdx.y;
  if (x < width && y < height) part[threadIdx.y][threadIdx.x] = from[y * width + x];  // fault
#ifndef FAULT
  __syncthreads();
#endif
  x = blockIdx.y * Side + threadIdx.x;
  y = blockIdx.x * Side + threadIdx.y;
  if (x < height && y < width) to[y * height + x] = part[threadIdx.x][threadIdx.y];  // fault
}

int main() {
  int const width = 20, height = 13;
  std::vector<float> host(width * height), result(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i);
  float *from, *to;
  size_t const bytes = host.size() * sizeof(float);
  cudaMalloc(&from, bytes);
  cudaMalloc(&to, bytes);
  cudaMemcpy(from, host.data(), bytes, cudaMemcpyHostToDevice);
  dim3 const grid((width + tile - 1) / tile, (height + tile - 1) / tile);
  transpose<float, tile><<<grid, {tile, tile}>>>(from, to, width, height);
  cudaMemcpy(result.data(), to, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) wrong += result[x * height + y] != host[y * width + x];
  }
  std::printf("%d wrong elements\n", wrong);
  cudaFree(from);
  cudaFree(to);
  return wrong != 0;
}
