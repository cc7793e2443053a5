// SPDX-License-Identifier: Apache-2.0
// Steps of bodies that attract each other: positions of one step are read while those of the next
// are written.
#include <cstdio>
#include <vector>

__device__ float3 attraction(float4 from, float4 to) {
  float3 const d = make_float3(to.x - from.x, to.y - from.y, to.z - from.z);
  float const inverse = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
  float const strength = to.w * inverse * inverse * inverse;
  return make_float3(d.x * strength, d.y * strength, d.z * strength);
}

__global__ void step(float4 const* positions, float4* next, float3* velocities, int n, float time) {
  extern __shared__ float4 tile[];
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 mine = positions[i];  // fault
  float3 sum = {0, 0, 0};
  for (int first = 0; first < n; first += blockDim.x) {
    tile[threadIdx.x] = positions[first + threadIdx.x];  // fault
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      float3 const f = attraction(mine, tile[k]);
      sum.x += f.x;
      sum.y += f.y;
      sum.z += f.z;
    }
    __syncthreads();
  }
  float3& v = velocities[i];
  v.x += sum.x * time;
  v.y += sum.y * time;
  v.z += sum.z * time;
  mine.x += v.x * time;
  mine.y += v.y * time;
  mine.z += v.z * time;
  next[i] = mine;  // fault
}

int main() {
  int const n = 32, steps = 2, threads = 16;
  std::vector<float4> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = make_float4(float(i % 4), float(i / 4 % 4), float(i / 16), 1.0f);
  float4* positions[2];
  float3* velocities;
  for (auto& p : positions) cudaMalloc(&p, n * sizeof(float4));
  cudaMalloc(&velocities, n * sizeof(float3));
  cudaMemset(velocities, 0, n * sizeof(float3));
  cudaMemcpy(positions[0], host.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
  for (int s = 0; s < steps; ++s) {
#ifndef FAULT
    float4* const next = positions[(s + 1) % 2];
#else
    float4* const next = positions[s % 2];
#endif
    step<<<n / threads, threads, threads * sizeof(float4)>>>(positions[s % 2], next, velocities, n,
                                                             0.01f);
  }
  cudaMemcpy(host.data(), positions[steps % 2], n * sizeof(float4), cudaMemcpyDeviceToHost);
  // Forces cancel out: the center stays where it was.
  float center = 0;
  for (float4 const& p : host) center += p.x / n;
  std::printf("center %.3f\n", center);
  for (auto p : positions) cudaFree(p);
  cudaFree(velocities);
  return center > 1.499f && center < 1.501f ? 0 : 1;
}
