// SPDX-License-Identifier: Apache-2.0
// Before: a cache of rows whose sets have a lock each in global memory. A warp takes the lock of a
// request's set, finds the key or replaces the least recently used one, and notes the row's place.
// Plain CUDA, without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr unsigned ways = 32, lanes = 32;
struct cache_set {               // 256 bytes
  std::uint32_t keys[ways];      // 0: none
  std::uint32_t last_use[ways];  // the last batch that used it
};
// A request's place: the place of its row, and whether the row has to be brought there.
constexpr std::uint32_t is_new = 1u << 31, no_place = ~0u;

__host__ __device__ std::uint32_t key_of(std::uint32_t i, std::uint32_t batch) {
  return 1 + 500 * batch + i * 7919 % 1000;
}
__device__ std::uint32_t set_of(std::uint32_t key, std::uint32_t n_sets) {
  key = (key ^ key >> 16) * 0x7feb352du;
  key = (key ^ key >> 15) * 0x846ca68bu;
  return __umulhi(key, n_sets);
}

__global__ void look_up(cache_set* sets, std::uint32_t* locks, std::uint32_t n_sets,
                        std::uint32_t n, std::uint32_t batch, std::uint32_t* places) {
  std::uint32_t const lane = threadIdx.x % lanes, step = gridDim.x * blockDim.x / lanes;
  for (std::uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / lanes; i < n; i += step) {
    std::uint32_t const key = key_of(i, batch), id = set_of(key, n_sets);
    if (lane == 0) {
      while (atomicCAS(&locks[id], 0u, 1u) != 0u) __nanosleep(100);
      __threadfence();
    }
    __syncwarp();
    // -- the critical section --
    cache_set& set = sets[id];
    unsigned const found = __ballot_sync(~0u, set.keys[lane] == key);
    std::uint32_t place = no_place;
    if (found != 0) {
      place = static_cast<std::uint32_t>(__ffs(static_cast<int>(found)) - 1);
    } else {
      // The smallest number of a batch; among equal numbers the first.
      std::uint32_t oldest = set.last_use[lane] * ways + lane;
      for (unsigned distance = ways / 2; distance != 0; distance /= 2) {
        std::uint32_t const other = __shfl_xor_sync(~0u, oldest, static_cast<int>(distance));
        oldest = min(oldest, other);
      }
      // Rows that this batch uses stay.
      if (oldest / ways != batch) place = oldest % ways | is_new;
    }
    if (lane == 0) {
      if (place != no_place) {
        set.keys[place % ways] = key;
        set.last_use[place % ways] = batch;
      }
      places[i] = place == no_place ? no_place : id * ways + place;
    }
    // --------------------------
    __syncwarp();
    if (lane == 0) {
      __threadfence();
      atomicExch(&locks[id], 0u);
    }
    __syncwarp();
  }
}

// Brings the rows that are new; a row is one number here.
__global__ void bring_rows(std::uint32_t* rows, std::uint32_t const* places, std::uint32_t n,
                           std::uint32_t batch, std::uint32_t* brought) {
  std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || places[i] == no_place || (places[i] & is_new) == 0) return;
  rows[places[i] & ~is_new] = 3 * key_of(i, batch);
  atomicAdd(brought, 1u);
}
__global__ void read_rows(std::uint32_t const* rows, std::uint32_t const* places, std::uint32_t n,
                          std::uint32_t batch, std::uint32_t* wrong) {
  std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (places[i] == no_place || rows[places[i] & ~is_new] != 3 * key_of(i, batch))
    atomicAdd(wrong, 1u);
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

int main() {
  std::uint32_t const n_sets = 128, n = 3000;
  cache_set* sets = nullptr;
  std::uint32_t *locks = nullptr, *rows = nullptr, *places = nullptr, *counts = nullptr;
  check(cudaMalloc(&sets, n_sets * sizeof(cache_set)));
  check(cudaMalloc(&locks, n_sets * sizeof(std::uint32_t)));
  check(cudaMalloc(&rows, n_sets * ways * sizeof(std::uint32_t)));
  check(cudaMalloc(&places, n * sizeof(std::uint32_t)));
  check(cudaMalloc(&counts, 2 * sizeof(std::uint32_t)));
  check(cudaMemset(sets, 0, n_sets * sizeof(cache_set)));
  check(cudaMemset(locks, 0, n_sets * sizeof(std::uint32_t)));
  check(cudaMemset(counts, 0, 2 * sizeof(std::uint32_t)));
  for (std::uint32_t batch = 1; batch <= 2; ++batch) {
    look_up<<<8, 128>>>(sets, locks, n_sets, n, batch, places);
    bring_rows<<<(n + 127) / 128, 128>>>(rows, places, n, batch, &counts[0]);
    read_rows<<<(n + 127) / 128, 128>>>(rows, places, n, batch, &counts[1]);
  }
  check(cudaGetLastError());

  std::uint32_t seen[2];
  check(cudaMemcpy(seen, counts, sizeof(seen), cudaMemcpyDeviceToHost));
  std::printf("%u requests, %u rows brought, %u wrong\n", 2 * n, seen[0], seen[1]);
  check(cudaFree(sets));
  check(cudaFree(locks));
  check(cudaFree(rows));
  check(cudaFree(places));
  check(cudaFree(counts));
}
