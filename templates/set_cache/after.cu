// SPDX-License-Identifier: Apache-2.0
// After: no locks. A set is a record. The section states by `group_size` how many lanes work on it.
// A function says for each request to which set it goes, and the set's owner does the work.
// Copy this file and edit the places marked 1 to 5.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred.cuh>

#include <cstdint>
#include <cstdio>

// 1. The record: what one lock protected.
constexpr unsigned ways = 32;
struct cache_set {               // 256 bytes
  std::uint32_t keys[ways];      // 0: none
  std::uint32_t last_use[ways];  // the last batch that used it
};
// A request's place: the place of its row, and whether the row has to be brought there.
constexpr std::uint32_t is_new = 1u << 31, no_place = ~0u;

// 2. The context of every section: the places of rows are noted there.
struct notes {
  std::uint32_t* places;
};

// 3. The critical section: its arguments are data members, its body is the operator. All lanes call
// it, with the same arguments; their group replaces the warp's mask.
struct look_up {
  static constexpr unsigned group_size = 32;
  std::uint32_t key, set_id, batch, request;
  __device__ void operator()(cache_set& set, notes n,
                             warden::lane_group<group_size> const& group) const {
    std::uint32_t const lane = group.lane();
    unsigned const found = group.ballot(set.keys[lane] == key);
    std::uint32_t place = no_place;
    if (found != 0) {
      place = static_cast<std::uint32_t>(__ffs(static_cast<int>(found)) - 1);
    } else {
      // The smallest number of a batch; among equal numbers the first.
      std::uint32_t const oldest =
          group.reduce(set.last_use[lane] * ways + lane,
                       [](std::uint32_t a, std::uint32_t b) { return b < a ? b : a; });
      // Rows that this batch uses stay.
      if (oldest / ways != batch) place = oldest % ways | is_new;
    }
    group.sync();  // each lane has read its key and its batch; lane 0 may replace them
    if (lane == 0) {
      if (place != no_place) {
        set.keys[place % ways] = key;
        set.last_use[place % ways] = batch;
      }
      n.places[request] = place == no_place ? no_place : set_id * ways + place;
    }
  }
};
using noting = warden::policy<warden::options{}, warden::context<notes>>;
using cache = warden::basic_guarded<noting, cache_set, look_up>;

__device__ std::uint32_t key_of(std::uint32_t i, std::uint32_t batch) {
  return 1 + 500 * batch + i * 7919 % 1000;
}
__device__ std::uint32_t set_of(std::uint32_t key, std::uint32_t n_sets) {
  key = (key ^ key >> 16) * 0x7feb352du;
  key = (key ^ key >> 15) * 0x846ca68bu;
  return warden::simt::multiply_high(key, n_sets);
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

int main() {
  std::uint32_t const n_sets = 128, n = 3000, blocks = (n + 127) / 128;
  warden::buffer<cache_set> sets{n_sets};
  warden::buffer<std::uint32_t> rows{n_sets * ways}, places{n}, counts{2};
  sets.fill_bytes(0);
  counts.fill_bytes(0);
  cache c{sets, notes{places.data()}};
  for (std::uint32_t batch = 1; batch <= 2; ++batch) {
    // 4. Instead of the kernel: its body, which returns the set and the section.
    c.apply_async(n, [=] __device__(std::uint32_t i) {
      std::uint32_t const key = key_of(i, batch), id = set_of(key, n_sets);
      return warden::to{id, look_up{key, id, batch, i}};
    });
    // 5. The kernels that use the places.
    warden::launch(bring_rows, blocks, 128, {}, rows.data(), places.data(), n, batch,
                   &counts.data()[0]);
    warden::launch(read_rows, blocks, 128, {}, rows.data(), places.data(), n, batch,
                   &counts.data()[1]);
  }
  c.wait();

  auto const seen = counts.to_host();
  std::printf("%u requests, %u rows brought, %u wrong\n", 2 * n, seen[0], seen[1]);
}
