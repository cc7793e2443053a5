// SPDX-License-Identifier: Apache-2.0
// The other way: each deposit goes, as a message, to the thread block that owns the account, and
// runs while the kernel does. Copy this file and edit the places marked 1 to 5.

#include <warden/fused.cuh>

#include <cstdint>
#include <cstdio>

// 1. The record: what one lock protected.
struct account {
  long long balance;
  std::uint32_t deposits;
};

// 2. The critical section: its arguments are data members, its body is the operator.
struct deposit {
  static constexpr bool reads_other_memory = false;  // touches its account only: no fence needed
  long long amount;
  __device__ void operator()(account& a) const {
    a.balance += amount;
    a.deposits += 1;
  }
};
using bank = warden::guarded<account, deposit>;

// 3. The rest of the kernel: at.block_index() and at.grid_dim() instead of blockIdx and gridDim.
struct payday {
  std::uint32_t n_accounts;
  std::uint32_t n;

  __device__ void operator()(warden::virtual_block const& at, bank::ref const& accounts) const {
    bank::block_client client{accounts, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n; first += step) {
      std::uint32_t const i = first + at.thread_rank();
      // 4. Instead of the lock loop; all threads of the block come here.
      client.send(i * 7919 % n_accounts, deposit{10}, /*valid*/ i < n);
    }
    client.flush();
  }
};

int main() {
  std::uint32_t const n_accounts = 100, n = 5000;
  warden::buffer<account> accounts{n_accounts};
  accounts.fill_bytes(0);
  // 5. The launch.
  bank b{accounts};
  warden::launch_fused(payday{n_accounts, n}, 4, {}, b);
  b.wait();
  long long sum = 0;
  for (account const& a : accounts.to_host()) sum += a.balance;
  std::printf("sum %lld\n", sum);
}
