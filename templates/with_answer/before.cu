// SPDX-License-Identifier: Apache-2.0
// Before: every show has a lock in global memory. A buyer takes a ticket number under it, and some
// buyers then read how the show sells, under it as well.

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstdio>

namespace simt = warden::simt;

struct show {
  std::uint32_t sold;    ///< tickets 0 to sold - 1
  std::uint32_t income;  ///< of these
};
constexpr std::uint32_t shows = 64, price = 30;

struct arguments {
  show* all;
  std::uint32_t* locks;
  std::uint32_t n;
  std::uint32_t* taken;  ///< [show][ticket] how often it was handed out
  std::uint32_t* wrong;
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

WARDEN_KERNEL void open_sale(arguments a) {
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  for (std::uint32_t i = simt::block_rank() * simt::block_threads() + simt::thread_rank(); i < a.n;
       i += step) {
    std::uint32_t const id = i * 2654435761u >> 26;
    std::uint32_t ticket = 0;
    locked(&a.locks[id], [&] {
      // -- the critical section --
      a.all[id].income += price;
      ticket = a.all[id].sold++;
      // --------------------------
    });
    simt::fetch_add(&a.taken[id * a.n + ticket], 1u);
    if (ticket % 16 == 0) {
      show seen{};
      locked(&a.locks[id], [&] {
        // -- another one --
        seen = a.all[id];
        // -----------------
      });
      if (seen.sold <= ticket || seen.income != price * seen.sold) simt::fetch_add(a.wrong, 1u);
    }
  }
}

int main() {
  std::uint32_t const n = 5000;
  warden::buffer<show> all{shows};
  warden::buffer<std::uint32_t> locks{shows}, taken{shows * n}, wrong{1};
  all.fill_bytes(0);
  locks.fill_bytes(0);
  taken.fill_bytes(0);
  wrong.fill_bytes(0);
  simt::launch(&open_sale, 4, 128, 0, {all.data(), locks.data(), n, taken.data(), wrong.data()},
               {});
  std::uint32_t once = 0;
  for (std::uint32_t const times : taken.to_host()) once += times == 1;
  std::printf("%u tickets handed out once, %u wrong looks\n", once, wrong.to_host()[0]);
}
