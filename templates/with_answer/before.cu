// SPDX-License-Identifier: Apache-2.0
// Before: every show has a lock in global memory. A buyer takes a ticket number under it, and some
// buyers then read how the show sells, under it as well. Plain CUDA, without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct show {
  std::uint32_t sold;    ///< tickets 0 to sold - 1
  std::uint32_t income;  ///< income from these tickets
};
constexpr std::uint32_t shows = 64, price = 30;

/// `taken` counts for [show][ticket] how often it was handed out.
__global__ void open_sale(show* all, std::uint32_t* locks, std::uint32_t n, std::uint32_t* taken,
                          std::uint32_t* wrong) {
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    std::uint32_t const id = i * 2654435761u >> 26;
    std::uint32_t ticket = 0;
    bool done = false;
    while (!done) {
      if (atomicCAS(&locks[id], 0u, 1u) == 0u) {
        __threadfence();
        // -- the critical section --
        all[id].income += price;
        ticket = all[id].sold++;
        // --------------------------
        __threadfence();
        atomicExch(&locks[id], 0u);
        done = true;
      }
    }
    atomicAdd(&taken[id * n + ticket], 1u);

    if (ticket % 16 != 0) continue;
    show seen{};
    done = false;
    while (!done) {
      if (atomicCAS(&locks[id], 0u, 1u) == 0u) {
        __threadfence();
        // -- another one --
        seen = all[id];
        // -----------------
        __threadfence();
        atomicExch(&locks[id], 0u);
        done = true;
      }
    }
    if (seen.sold <= ticket || seen.income != price * seen.sold) atomicAdd(wrong, 1u);
  }
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

std::uint32_t* zeros(std::uint32_t n) {
  std::uint32_t* words = nullptr;
  check(cudaMalloc(&words, n * sizeof(std::uint32_t)));
  check(cudaMemset(words, 0, n * sizeof(std::uint32_t)));
  return words;
}

int main() {
  std::uint32_t const n = 5000;
  show* all = nullptr;
  check(cudaMalloc(&all, shows * sizeof(show)));
  check(cudaMemset(all, 0, shows * sizeof(show)));
  std::uint32_t *locks = zeros(shows), *taken = zeros(shows * n), *wrong = zeros(1);
  open_sale<<<4, 128>>>(all, locks, n, taken, wrong);
  check(cudaGetLastError());

  std::vector<std::uint32_t> times(shows * n);
  std::uint32_t wrong_looks = 0;
  check(cudaMemcpy(times.data(), taken, times.size() * sizeof(std::uint32_t),
                   cudaMemcpyDeviceToHost));
  check(cudaMemcpy(&wrong_looks, wrong, sizeof wrong_looks, cudaMemcpyDeviceToHost));
  std::uint32_t once = 0;
  for (std::uint32_t const t : times) once += t == 1;
  std::printf("%u tickets handed out once, %u wrong looks\n", once, wrong_looks);
  check(cudaFree(all));
  for (std::uint32_t* words : {locks, taken, wrong}) check(cudaFree(words));
}
