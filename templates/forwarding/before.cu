// SPDX-License-Identifier: Apache-2.0
// Before: every shelf has a lock in global memory. An order takes crates from one shelf under its
// lock, and then, if there were enough, puts them on another one under that one's. It never has
// both locks: in between the crates are on no shelf.

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace simt = warden::simt;

struct shelf {
  std::uint32_t crates;
  std::uint32_t sent, got;  ///< of them
  std::uint32_t asked;      ///< to be sent, whether they were there or not
};
constexpr std::uint32_t shelves = 64, opening = 100;

struct order {
  std::uint32_t from, to;
  std::uint32_t crates;
  WARDEN_HOST_DEVICE static order number(std::uint32_t i) {
    std::uint32_t const h = i * 2654435761u;
    return {h >> 26, h >> 20 & 63, 1 + (h >> 16 & 15)};
  }
};

struct arguments {
  shelf* all;
  std::uint32_t* locks;
  std::uint32_t n;
};

template <class Section>
__device__ void locked(std::uint32_t* lock, Section section) {
  bool done = false;
  do {
    if (simt::compare_exchange(lock, 0u, 1u) == 0u) {
      simt::fence_device();
      section();
      simt::fence_device();
      simt::exchange(lock, 0u);
      done = true;
    } else {
      simt::back_off(0);
    }
  } while (!done);
}

WARDEN_KERNEL void work_off(arguments a) {
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  for (std::uint32_t i = simt::block_rank() * simt::block_threads() + simt::thread_rank(); i < a.n;
       i += step) {
    auto const o = order::number(i);
    bool taken = false;
    locked(&a.locks[o.from], [&] {
      // -- the first critical section --
      shelf& s = a.all[o.from];
      s.asked += o.crates;
      taken = s.crates >= o.crates;
      if (taken) {
        s.crates -= o.crates;
        s.sent += o.crates;
      }
      // --------------------------------
    });
    if (!taken) continue;
    locked(&a.locks[o.to], [&] {
      // -- the second one --
      shelf& s = a.all[o.to];
      s.crates += o.crates;
      s.got += o.crates;
      // --------------------
    });
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
    wrong +=
        s.crates > shelves * opening || s.crates + s.sent != opening + s.got || s.asked != wanted;
  }
  std::printf("%u crates, %u wrong shelves\n", crates, wrong);
}
