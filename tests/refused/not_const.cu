// SPDX-License-Identifier: Apache-2.0
// Must not compile: a section is called as a const object.

#include <warden/guarded.cuh>

struct account {
  long long balance;
};
struct deposit {
  long long amount;
  __device__ void operator()(account& a) { a.balance += amount; }
};

void make(account* accounts) { warden::guarded<account, deposit>{accounts, 1}; }
