// SPDX-License-Identifier: Apache-2.0
// Before: every account has a lock in global memory, and every thread loops until it gets it.

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstdio>

namespace simt = warden::simt;

struct account {
  long long balance;
  std::uint32_t deposits;
};

struct arguments {
  account* accounts;
  std::uint32_t* locks;
  std::uint32_t n_accounts;
  std::uint32_t n;
};

WARDEN_KERNEL void payday(arguments a) {
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  for (std::uint32_t i = simt::block_rank() * simt::block_threads() + simt::thread_rank(); i < a.n;
       i += step) {
    std::uint32_t const id = i * 7919 % a.n_accounts;
    bool done = false;
    do {
      if (simt::compare_exchange(&a.locks[id], 0u, 1u) == 0u) {
        simt::fence_device();
        // -- the critical section --
        a.accounts[id].balance += 10;
        a.accounts[id].deposits += 1;
        // --------------------------
        simt::fence_device();
        simt::exchange(&a.locks[id], 0u);
        done = true;
      } else {
        simt::back_off(0);
      }
    } while (!done);
  }
}

int main() {
  std::uint32_t const n_accounts = 100, n = 5000;
  warden::buffer<account> accounts{n_accounts};
  warden::buffer<std::uint32_t> locks{n_accounts};
  accounts.fill_bytes(0);
  locks.fill_bytes(0);
  simt::launch(&payday, 4, 128, 0, {accounts.data(), locks.data(), n_accounts, n}, {});
  long long sum = 0;
  for (account const& a : accounts.to_host()) sum += a.balance;
  std::printf("sum %lld\n", sum);
}
