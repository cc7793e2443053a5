// SPDX-License-Identifier: Apache-2.0
// Before: every shelf has a lock in global memory. An order takes crates from one shelf under its
// lock. If there were enough, it then puts them on another shelf under that shelf's lock. It never
// has both locks: in between the crates are on no shelf. Plain CUDA, without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct shelf {
  std::uint32_t crates;
  std::uint32_t sent, got;  ///< crates sent and received
  std::uint32_t asked;      ///< crates to be sent, whether they were there or not
};
constexpr std::uint32_t shelves = 64, opening = 100;

struct order {
  std::uint32_t from, to;
  std::uint32_t crates;
  __host__ __device__ static order number(std::uint32_t i) {
    std::uint32_t const h = i * 2654435761u;
    return {h >> 26, h >> 20 & 63, 1 + (h >> 16 & 15)};
  }
};

__global__ void work_off(shelf* all, std::uint32_t* locks, std::uint32_t n) {
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    auto const o = order::number(i);
    bool taken = false, done = false;
    while (!done) {
      if (atomicCAS(&locks[o.from], 0u, 1u) == 0u) {
        __threadfence();
        // -- the first critical section --
        shelf& s = all[o.from];
        s.asked += o.crates;
        taken = s.crates >= o.crates;
        if (taken) {
          s.crates -= o.crates;
          s.sent += o.crates;
        }
        // --------------------------------
        __threadfence();
        atomicExch(&locks[o.from], 0u);
        done = true;
      }
    }

    if (!taken) continue;
    done = false;
    while (!done) {
      if (atomicCAS(&locks[o.to], 0u, 1u) == 0u) {
        __threadfence();
        // -- the second one --
        shelf& s = all[o.to];
        s.crates += o.crates;
        s.got += o.crates;
        // --------------------
        __threadfence();
        atomicExch(&locks[o.to], 0u);
        done = true;
      }
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
  shelf* all = nullptr;
  std::uint32_t* locks = nullptr;
  check(cudaMalloc(&all, shelves * sizeof(shelf)));
  check(cudaMalloc(&locks, shelves * sizeof(std::uint32_t)));
  std::vector<shelf> stock(shelves, shelf{opening, 0, 0, 0});
  check(cudaMemcpy(all, stock.data(), shelves * sizeof(shelf), cudaMemcpyHostToDevice));
  check(cudaMemset(locks, 0, shelves * sizeof(std::uint32_t)));
  work_off<<<4, 128>>>(all, locks, n);
  check(cudaGetLastError());
  check(cudaMemcpy(stock.data(), all, shelves * sizeof(shelf), cudaMemcpyDeviceToHost));

  std::vector<std::uint32_t> asked(shelves);
  for (std::uint32_t i = 0; i < n; ++i) asked[order::number(i).from] += order::number(i).crates;
  std::uint32_t crates = 0, wrong = 0;
  for (std::uint32_t id = 0; id < shelves; ++id) {
    shelf const& s = stock[id];
    crates += s.crates;
    wrong += s.crates > shelves * opening || s.crates + s.sent != opening + s.got ||
             s.asked != asked[id];
  }
  std::printf("%u crates, %u wrong shelves\n", crates, wrong);
  check(cudaFree(all));
  check(cudaFree(locks));
}
