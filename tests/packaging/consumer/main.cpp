// SPDX-License-Identifier: Apache-2.0
// The smallest user of the library.

#include <warden/fused.cuh>

#include <cstdint>
#include <cstdio>

struct account {
  long long balance;
};
struct deposit {
  long long amount;
  __device__ void operator()(account& a, warden::no_context) const { a.balance += amount; }
};
using bank = warden::guarded<account, deposit>;

int main() {
  warden::buffer<account> balances{1};
  balances.fill_bytes(0);
  bank b{balances};
  // nvcc takes a lambda only with an option that the package sets.
  auto const payday = [] __device__(warden::virtual_block const& at, bank::ref const& accounts) {
    bank::block_client c{accounts, at};
    c.send(0, deposit{1});
    c.flush();
  };
  warden::launch_fused(payday, 2, 256, {}, b);
  b.wait();
  std::printf("balance %lld\n", balances.to_host()[0].balance);
}
