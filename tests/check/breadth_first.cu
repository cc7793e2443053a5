// SPDX-License-Identifier: Apache-2.0
// Breadth-first search by levels. A vertex is taken once, by an atomic, and put into the next
// frontier.
#include <cstdio>
#include <utility>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    cudaError_t const error = (call);                                     \
    if (error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(2);                                                       \
    }                                                                     \
  } while (false)

struct graph {
  int const* begins;
  int const* targets;
};

__global__ void expand(graph g, int const* frontier, int n, int level, int* levels, int* next,
                       int* next_n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int e = g.begins[frontier[i]]; e < g.begins[frontier[i] + 1]; ++e) {
    int const to = g.targets[e];
#ifndef FAULT
    if (atomicCAS(&levels[to], -1, level) == -1) next[atomicAdd(next_n, 1)] = to;
#else
    if (levels[to] == -1) {             // fault
      levels[to] = level;               // fault
      next[atomicAdd(next_n, 1)] = to;  // fault
    }
#endif
  }
}

int main() {
  // A ring with chords: two vertices reach most others.
  int const n = 60;
  std::vector<int> begins{0}, targets;
  for (int v = 0; v < n; ++v) {
    for (int to : {(v + 1) % n, (v + n - 1) % n, (v + 7) % n}) targets.push_back(to);
    begins.push_back(static_cast<int>(targets.size()));
  }
  std::vector<int> expected(n, -1), queue{0};
  expected[0] = 0;
  for (size_t q = 0; q < queue.size(); ++q) {
    for (int e = begins[queue[q]]; e < begins[queue[q] + 1]; ++e) {
      if (expected[targets[e]] != -1) continue;
      expected[targets[e]] = expected[queue[q]] + 1;
      queue.push_back(targets[e]);
    }
  }

  int *device_begins, *device_targets, *levels, *frontier, *next, *next_n;
  CHECK(cudaMalloc(&device_begins, begins.size() * sizeof(int)));
  CHECK(cudaMalloc(&device_targets, targets.size() * sizeof(int)));
  CHECK(cudaMalloc(&levels, n * sizeof(int)));
  CHECK(cudaMalloc(&frontier, 4 * n * sizeof(int)));
  CHECK(cudaMalloc(&next, 4 * n * sizeof(int)));
  CHECK(cudaMallocManaged(&next_n, sizeof(int)));
  CHECK(cudaMemcpy(device_begins, begins.data(), begins.size() * sizeof(int), cudaMemcpyDefault));
  CHECK(
      cudaMemcpy(device_targets, targets.data(), targets.size() * sizeof(int), cudaMemcpyDefault));
  CHECK(cudaMemset(levels, -1, n * sizeof(int)));
  CHECK(cudaMemset(levels, 0, sizeof(int)));
  CHECK(cudaMemset(frontier, 0, sizeof(int)));
  int size = 1;
  for (int level = 1; size != 0; ++level) {
    *next_n = 0;
    expand<<<(size + 3) / 4, 4>>>(graph{device_begins, device_targets}, frontier, size, level,
                                  levels, next, next_n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    size = *next_n;
    std::swap(frontier, next);
  }
  std::vector<int> result(n);
  CHECK(cudaMemcpy(result.data(), levels, n * sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("%s\n", result == expected ? "right" : "wrong");
  for (int* memory : {device_begins, device_targets, levels, frontier, next, next_n})
    CHECK(cudaFree(memory));
  return result == expected ? 0 : 1;
}
