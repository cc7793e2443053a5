// SPDX-License-Identifier: Apache-2.0
// Before: shells burst into different numbers of sparks, and every thread takes places for those of
// its shell by an atomic on one counter. Plain CUDA, without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct spark {
  std::uint32_t shell, number;
};
constexpr std::uint32_t most = 8;  ///< sparks of a shell, at most

__host__ __device__ std::uint32_t sparks_of(std::uint32_t shell) {
  return shell * 2654435761u >> 29;
}

/// There is room for `capacity` sparks; more are lost.
__global__ void burst(std::uint32_t n, spark* sparks, unsigned long long capacity,
                      unsigned long long* taken) {
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    std::uint32_t const count = sparks_of(i);
    unsigned long long const place = atomicAdd(taken, count);
    for (std::uint32_t k = 0; k < count; ++k) {
      if (place + k < capacity) sparks[place + k] = {i, k};
    }
  }
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

int main() {
  std::uint32_t const n = 5000;
  std::vector<spark> all(n * most);
  spark* sparks = nullptr;
  unsigned long long *counter = nullptr, taken = 0;
  check(cudaMalloc(&sparks, all.size() * sizeof(spark)));
  check(cudaMalloc(&counter, sizeof taken));
  check(cudaMemset(counter, 0, sizeof taken));
  burst<<<4, 128>>>(n, sparks, all.size(), counter);
  check(cudaGetLastError());
  check(cudaMemcpy(&taken, counter, sizeof taken, cudaMemcpyDeviceToHost));
  if (taken > all.size()) {
    std::fprintf(stderr, "%llu sparks; there is room for %zu\n", taken, all.size());
    return 1;
  }
  check(cudaMemcpy(all.data(), sparks, taken * sizeof(spark), cudaMemcpyDeviceToHost));

  std::vector<std::uint32_t> times(n * most);
  for (std::size_t i = 0; i < taken; ++i) times[all[i].shell * most + all[i].number] += 1;
  std::uint32_t once = 0, wanted = 0;
  for (std::uint32_t const t : times) once += t == 1;
  for (std::uint32_t i = 0; i < n; ++i) wanted += sparks_of(i);
  std::printf("%u of %u sparks, %llu places\n", once, wanted, taken);
  check(cudaFree(sparks));
  check(cudaFree(counter));
}
