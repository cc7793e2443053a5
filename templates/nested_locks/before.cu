// SPDX-License-Identifier: Apache-2.0
// Before: every shelf has a lock in global memory. An order moves crates if the one shelf has them
// and the other one has room, so it needs both locks: the lower shelf's first, whoever sends.

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace simt = warden::simt;

struct shelf {
  std::uint32_t crates;     ///< at most `room`
  std::uint32_t sent, got;  ///< of them
  std::uint32_t asked;      ///< to be sent, whether they could be or not
};
constexpr std::uint32_t shelves = 64, opening = 50, room = 100;

struct order {
  std::uint32_t from, to;  ///< two different shelves
  std::uint32_t crates;
  WARDEN_HOST_DEVICE static order number(std::uint32_t i) {
    std::uint32_t const h = i * 2654435761u, from = h >> 26;
    return {from, (from + 1 + (h >> 20 & 31)) % shelves, 1 + (h >> 16 & 15)};
  }
};

struct arguments {
  shelf* all;
  std::uint32_t* locks;
  std::uint32_t n;
};

__device__ bool try_lock(std::uint32_t* lock) { return simt::compare_exchange(lock, 0u, 1u) == 0u; }

WARDEN_KERNEL void work_off(arguments a) {
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  for (std::uint32_t i = simt::block_rank() * simt::block_threads() + simt::thread_rank(); i < a.n;
       i += step) {
    auto const o = order::number(i);
    std::uint32_t const low = o.from < o.to ? o.from : o.to, high = o.from < o.to ? o.to : o.from;
    bool has_low = false, done = false;
    do {
      if (!has_low) has_low = try_lock(&a.locks[low]);
      if (has_low && try_lock(&a.locks[high])) {
        simt::fence_device();
        // -- the critical section --
        shelf &from = a.all[o.from], &to = a.all[o.to];
        from.asked += o.crates;
        if (from.crates >= o.crates && to.crates + o.crates <= room) {
          from.crates -= o.crates;
          from.sent += o.crates;
          to.crates += o.crates;
          to.got += o.crates;
        }
        // --------------------------
        simt::fence_device();
        simt::exchange(&a.locks[high], 0u);
        simt::exchange(&a.locks[low], 0u);
        done = true;
      } else {
        simt::back_off(0);
      }
    } while (!done);
  }
}

int main() {
  std::uint32_t const n = 5000;
  warden::buffer<shelf> all{shelves};
  warden::buffer<std::uint32_t> locks{shelves};
  std::vector<shelf> const stocked(shelves, shelf{opening, 0, 0, 0});
  warden::copy(all.data(), stocked.data(), shelves);
  locks.fill_bytes(0);
  simt::launch(&work_off, 4, 128, 0, {all.data(), locks.data(), n}, {});

  std::vector<std::uint32_t> asked(shelves);
  for (std::uint32_t i = 0; i < n; ++i) asked[order::number(i).from] += order::number(i).crates;
  std::uint32_t crates = 0, wrong = 0, id = 0;
  for (shelf const& s : all.to_host()) {
    std::uint32_t const wanted = asked[id++];
    crates += s.crates;
    wrong += s.crates > room || s.crates + s.sent != opening + s.got || s.asked != wanted;
  }
  std::printf("%u crates, %u wrong shelves\n", crates, wrong);
}
