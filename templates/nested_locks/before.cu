// SPDX-License-Identifier: Apache-2.0
// Before: every shelf has a lock in global memory. An order moves crates if the one shelf has them
// and the other one has room, so it needs both locks. It always takes the lower shelf's lock first.
// Plain CUDA, without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct shelf {
  std::uint32_t crates;     ///< at most `room`
  std::uint32_t sent, got;  ///< crates sent and received
  std::uint32_t asked;      ///< crates to be sent, whether they could be or not
};
constexpr std::uint32_t shelves = 64, opening = 50, room = 100;

struct order {
  std::uint32_t from, to;  ///< two different shelves
  std::uint32_t crates;
  __host__ __device__ static order number(std::uint32_t i) {
    std::uint32_t const h = i * 2654435761u, from = h >> 26;
    return {from, (from + 1 + (h >> 20 & 31)) % shelves, 1 + (h >> 16 & 15)};
  }
};

__device__ bool try_lock(std::uint32_t* lock) { return atomicCAS(lock, 0u, 1u) == 0u; }

__global__ void work_off(shelf* all, std::uint32_t* locks, std::uint32_t n) {
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    auto const o = order::number(i);
    std::uint32_t const low = o.from < o.to ? o.from : o.to, high = o.from < o.to ? o.to : o.from;
    bool has_low = false, done = false;
    while (!done) {
      if (!has_low) has_low = try_lock(&locks[low]);
      if (has_low && try_lock(&locks[high])) {
        __threadfence();
        // -- the critical section --
        shelf &from = all[o.from], &to = all[o.to];
        from.asked += o.crates;
        if (from.crates >= o.crates && to.crates + o.crates <= room) {
          from.crates -= o.crates;
          from.sent += o.crates;
          to.crates += o.crates;
          to.got += o.crates;
        }
        // --------------------------
        __threadfence();
        atomicExch(&locks[high], 0u);
        atomicExch(&locks[low], 0u);
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
    wrong += s.crates > room || s.crates + s.sent != opening + s.got || s.asked != asked[id];
  }
  std::printf("%u crates, %u wrong shelves\n", crates, wrong);
  check(cudaFree(all));
  check(cudaFree(locks));
}
