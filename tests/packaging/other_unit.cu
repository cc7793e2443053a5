// SPDX-License-Identifier: Apache-2.0
// The other translation unit: the same names for other types must not mix with the first one's.

#include "everything.cuh"

#include <cstdio>

namespace {

struct account {
  long long balance;
};
struct deposit {
  long long amount;
  __device__ void operator()(account& a, warden::no_context) const { a.balance += 10 * amount; }
};
using bank = warden::guarded<account, deposit>;

struct payday {
  std::uint32_t n;
  __device__ void operator()(warden::virtual_block const& at, bank::ref const& accounts) const {
    bank::block_client c{accounts, at};
    c.send(at.global_rank() % 10, deposit{2}, at.global_rank() < n);
    c.flush();
  }
};

}  // namespace

long long deposits_of_one_unit();

int main() {
  warden::buffer<account> accounts{10};
  accounts.fill_bytes(0);
  bank b{accounts};
  warden::launch_fused(payday{1000}, 5, 256, {}, b);
  b.wait();
  long long sum = 0;
  for (account const& a : accounts.to_host()) sum += a.balance;
  long long const other = deposits_of_one_unit();
  std::printf("%lld and %lld\n", other, sum);
  return other == 2000 && sum == 20000 ? 0 : 1;
}
