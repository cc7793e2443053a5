// SPDX-License-Identifier: Apache-2.0
// Launches and shared variables in the forms that CUDA programs have. Prints "right".
#include "launches.cuh"

#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define LAUNCH(kernel, blocks, threads, ...) kernel<<<blocks, threads>>>(__VA_ARGS__)
#define SHARED_INT(name) __shared__ int name

namespace outer {
namespace inner {
template <class T, int N = 3>
__global__ void add(T* sum, T value) {
  atomicAdd(sum, value * N);
}
}  // namespace inner
}  // namespace outer

__global__ void overloaded(int* sum, int value) { atomicAdd(sum, value); }
__global__ void overloaded(int* sum, double value) { atomicAdd(sum, static_cast<int>(10 * value)); }
__global__ void optional(int* sum, int const* more) { atomicAdd(sum, more == nullptr ? 1 : *more); }

template <class F>
__global__ void apply(int* sum, F f) {
  atomicAdd(sum, f(threadIdx.x));
}

template <int N>
__global__ void macros_and_scopes(int* sum) {
  SHARED_INT(of_block);
  extern __shared__ __align__(16) unsigned char bytes[];
  int* const dynamic = reinterpret_cast<int*>(bytes);
  if (threadIdx.x == 0) of_block = N;
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < N) {
    __shared__ int volatile inside[2][N], after;
    inside[1][threadIdx.x] = dynamic[threadIdx.x + 1];
    if (threadIdx.x == 0) after = 0;
    __syncwarp((1u << N) - 1);
    atomicAdd(sum, inside[1][(threadIdx.x + 1) % N] + of_block + after);
  }
}

struct launcher {
  void (*kernel)(int*, int);
  template <class T>
  void run(T* sum) {
    kernel<<<1, 1>>>(sum, 1);
    outer::inner::add<T, (2 > 1)><<<dim3(1 << 1), {2, 1}>>>(sum, T(1));
  }
};

int main() {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  std::vector<int> found;
  auto take = [&] {
    int value;
    cudaMemcpy(&value, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemset(sum, 0, sizeof(int));
    found.push_back(value);
  };
  cudaMemset(sum, 0, sizeof(int));
  outer::inner::add<int><<<1, 2>>>(sum, 1), take();
  outer::inner::add<<<2, 2>>>(sum, 1), take();
  LAUNCH(overloaded, 1, 2, sum, 7), take();
  overloaded<<<1, 2>>>(sum, 0.5), take();
  optional<<<1, 2>>>(sum, NULL), take();
  int const captured = 5;
  apply<<<1, 4>>>(sum, [=] __device__(int i) { return i << captured >> 5; }), take();
  macros_and_scopes<3><<<1, 8, 8 * sizeof(int), 0>>>(sum), take();
  launcher{overloaded_once}.run(sum), take();
  int i = 0;
  overloaded_once<<<1, 4>>>(sum, ++i), take();
  void* arguments[] = {&sum, &i};
  cudaLaunchKernel((void const*)overloaded_once, dim3(1), dim3(2), arguments, 0, nullptr), take();
  cudaLaunchKernel(reinterpret_cast<void*>(&overloaded_once), 1, 3, arguments), take();
  in_header<<<1, 2, 4 * sizeof(int)>>>(sum), take();
  std::vector<int> const expected{6, 12, 14, 10, 2, 6, 15, 1 + 4, 4, 2, 3, 9};
  std::printf("%s\n", found == expected ? "right" : "wrong");
  for (int value : found) std::printf("%d ", value);
  cudaFree(sum);
  return found == expected ? 0 : 1;
}
