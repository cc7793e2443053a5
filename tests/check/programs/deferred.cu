// SPDX-License-Identifier: Apache-2.0
// A program that uses Warden, started by CUDA's launch and by Warden's; with RACE its kernel also
// counts by plain accesses.

#include <warden/deferred.cuh>

#include <cstddef>

struct account {
  long long balance;
};
struct deposit {
  long long amount;
  __device__ void operator()(account& a) const { a.balance += amount; }
};
using bank = warden::guarded<account, deposit>;

__global__ void payday(bank::deferred_ref accounts, unsigned* seen, unsigned people) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < people) accounts.send(i % 10, deposit{10});
#if defined(RACE)
  *seen += 1;
#else
  atomicAdd(seen, 1u);
#endif
}

int main() {
  warden::buffer<account> accounts{10};
  warden::buffer<unsigned> seen{1};
  accounts.fill_bytes(0);
  seen.fill_bytes(0);
  bank b{accounts};
  warden::deferred log{b, 200};
  payday<<<2, 64>>>(log.ref(), seen.data(), 100);
  warden::launch(payday, 2, 64, {}, log.ref(), seen.data(), 100);
  log.run();
  b.wait();
#if defined(THROW)
  warden::deferred{b, std::size_t{1} << 40};
#endif
  return accounts.to_host()[7].balance == 200 && seen.to_host()[0] == 256 ? 0 : 1;
}
