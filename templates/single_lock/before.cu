// SPDX-License-Identifier: Apache-2.0
// Before: every account has a lock in global memory, and every thread loops until it gets it. Plain
// CUDA, without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct account {
  long long balance;
  std::uint32_t deposits;
};

__global__ void payday(account* accounts, std::uint32_t* locks, std::uint32_t n_accounts,
                       std::uint32_t n) {
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    std::uint32_t const id = i * 7919 % n_accounts;
    // The section stands inside the loop: threads of one warp may want the same lock, and the
    // thread that has it must not wait for the others.
    bool done = false;
    while (!done) {
      if (atomicCAS(&locks[id], 0u, 1u) == 0u) {
        __threadfence();
        // -- the critical section --
        accounts[id].balance += 10;
        accounts[id].deposits += 1;
        // --------------------------
        __threadfence();
        atomicExch(&locks[id], 0u);
        done = true;
      }
    }
  }
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

int main() {
  std::uint32_t const n_accounts = 100, n = 5000;
  account* accounts = nullptr;
  std::uint32_t* locks = nullptr;
  check(cudaMalloc(&accounts, n_accounts * sizeof(account)));
  check(cudaMalloc(&locks, n_accounts * sizeof(std::uint32_t)));
  check(cudaMemset(accounts, 0, n_accounts * sizeof(account)));
  check(cudaMemset(locks, 0, n_accounts * sizeof(std::uint32_t)));
  payday<<<4, 128>>>(accounts, locks, n_accounts, n);
  check(cudaGetLastError());

  std::vector<account> paid(n_accounts);
  check(cudaMemcpy(paid.data(), accounts, n_accounts * sizeof(account), cudaMemcpyDeviceToHost));
  long long sum = 0;
  for (account const& a : paid) sum += a.balance;
  std::printf("sum %lld\n", sum);
  check(cudaFree(accounts));
  check(cudaFree(locks));
}
