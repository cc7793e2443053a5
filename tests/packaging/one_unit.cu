// SPDX-License-Identifier: Apache-2.0
// One of two translation units with every header: instantiates a launch.

#include "everything.cuh"

namespace {

struct account {
  long long balance;
};
struct deposit {
  long long amount;
  __device__ void operator()(account& a, warden::no_context) const { a.balance += amount; }
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

long long deposits_of_one_unit() {
  warden::buffer<account> accounts{10};
  accounts.fill_bytes(0);
  bank b{accounts};
  warden::launch_fused(payday{1000}, 5, 256, {}, b);
  b.wait();
  long long sum = 0;
  for (account const& a : accounts.to_host()) sum += a.balance;
  return sum;
}
