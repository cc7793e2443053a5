// SPDX-License-Identifier: Apache-2.0
// Kernels and shared variables in a program's own header.
#pragma once

#ifndef __CUDACC__
#  error "nvcc defines this macro"
#endif

extern __shared__ int of_file[];

__global__ void overloaded_once(int* sum, int value) { atomicAdd(sum, value); }

__global__ static void __launch_bounds__(64, 2) in_header(int* sum) {
  __shared__ float2 pair;
  if (threadIdx.x == 0) {
    pair = make_float2(3, 4);
    of_file[0] = 1;
    ((short*)of_file)[2] = 1;
    ((short*)of_file)[3] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 1) atomicAdd(sum, static_cast<int>(pair.x + pair.y) + of_file[0] + of_file[1]);
}
