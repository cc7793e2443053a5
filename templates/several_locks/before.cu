// SPDX-License-Identifier: Apache-2.0
// Before: every bin has a lock in global memory. An order takes a part from each of 4 bins, and
// adds a product to another bin, if all parts are there. It locks the bins in the order of their
// ids, each once. Plain CUDA, without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct bin {
  std::uint32_t parts;  ///< or products
  std::uint32_t taken;  ///< parts that orders have taken
};
constexpr std::uint32_t bins = 60, products = 16, opening = 50, parts_of_order = 4;

struct order {
  std::uint32_t id[parts_of_order + 1];  ///< bins of the parts, some of them equal; the product
  __host__ __device__ static order number(std::uint32_t i) {
    order o;
    for (std::uint32_t k = 0; k < parts_of_order; ++k)
      o.id[k] = ((i * parts_of_order + k) * 2654435761u >> 16) % bins;
    o.id[parts_of_order] = bins + i % products;
    return o;
  }
};

__device__ bool try_lock(std::uint32_t* lock) { return atomicCAS(lock, 0u, 1u) == 0u; }

__global__ void work_off(bin* all, std::uint32_t* locks, std::uint32_t n) {
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    auto const o = order::number(i);
    order sorted = o;
    for (std::uint32_t a = 1; a <= parts_of_order; ++a) {
      for (std::uint32_t b = a; b > 0 && sorted.id[b] < sorted.id[b - 1]; --b) {
        std::uint32_t const id = sorted.id[b];
        sorted.id[b] = sorted.id[b - 1];
        sorted.id[b - 1] = id;
      }
    }
    std::uint32_t held = 0;
    bool done = false;
    while (!done) {
      bool const again = held != 0 && sorted.id[held] == sorted.id[held - 1];
      if (again || try_lock(&locks[sorted.id[held]])) ++held;
      if (held <= parts_of_order) continue;
      __threadfence();
      // -- the critical section --
      std::uint32_t k = 0;
      while (k < parts_of_order && all[o.id[k]].parts != 0) {
        --all[o.id[k]].parts;
        ++all[o.id[k]].taken;
        ++k;
      }
      if (k == parts_of_order) {
        ++all[o.id[k]].parts;
      } else {
        // A part is missing: all others go back.
        while (k-- != 0) {
          ++all[o.id[k]].parts;
          --all[o.id[k]].taken;
        }
      }
      // --------------------------
      __threadfence();
      while (held-- != 0) atomicExch(&locks[sorted.id[held]], 0u);
      done = true;
    }
  }
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

int main() {
  std::uint32_t const n = 1000, size = bins + products;
  bin* all = nullptr;
  std::uint32_t* locks = nullptr;
  check(cudaMalloc(&all, size * sizeof(bin)));
  check(cudaMalloc(&locks, size * sizeof(std::uint32_t)));
  std::vector<bin> stock(size, bin{0, 0});
  for (std::uint32_t id = 0; id < bins; ++id) stock[id].parts = opening;
  check(cudaMemcpy(all, stock.data(), size * sizeof(bin), cudaMemcpyHostToDevice));
  check(cudaMemset(locks, 0, size * sizeof(std::uint32_t)));
  work_off<<<4, 128>>>(all, locks, n);
  check(cudaGetLastError());
  check(cudaMemcpy(stock.data(), all, size * sizeof(bin), cudaMemcpyDeviceToHost));

  std::uint32_t parts = 0, wrong = 0;
  for (std::uint32_t id = 0; id < size; ++id) {
    parts += stock[id].parts * (id < bins ? 1 : parts_of_order);
    wrong += id < bins && stock[id].parts + stock[id].taken != opening;
  }
  std::printf("%u parts, %u wrong bins\n", parts, wrong);
  check(cudaFree(all));
  check(cudaFree(locks));
}
