// SPDX-License-Identifier: Apache-2.0
// After: no locks. The kernel stays as it is and defers each deposit to a log. A run after the
// kernel executes the deposits. Copy this file and edit the places marked 1 to 4. fused.cu shows
// the other way.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred.cuh>

#include <cstdint>
#include <cstdio>

// 1. The record: what one lock protected.
struct account {
  long long balance;
  std::uint32_t deposits;
};

// 2. The critical section: its arguments are data members, its body is the operator.
struct deposit {
  long long amount;
  __device__ void operator()(account& a) const {
    a.balance += amount;
    a.deposits += 1;
  }
};
using bank = warden::guarded<account, deposit>;

__global__ void payday(bank::deferred_ref accounts, std::uint32_t n_accounts, std::uint32_t n) {
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    std::uint32_t const id = i * 7919 % n_accounts;
    // 3. Instead of the lock loop; any thread, in any control flow.
    accounts.send(id, deposit{10});
  }
}

int main() {
  std::uint32_t const n_accounts = 100, n = 5000;
  warden::buffer<account> accounts{n_accounts};
  accounts.fill_bytes(0);
  // 4. The launch, and the run after it.
  bank b{accounts};
  warden::deferred later{b, n};
  warden::launch(payday, 4, 128, {}, later.ref(), n_accounts, n);  // payday<<<4, 128>>>(...)
  later.run();
  b.wait();

  long long sum = 0;
  for (account const& a : accounts.to_host()) sum += a.balance;
  std::printf("sum %lld\n", sum);
}
