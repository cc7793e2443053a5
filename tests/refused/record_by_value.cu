// SPDX-License-Identifier: Apache-2.0
// Must not compile: the section changes a copy of its record.

#include <warden/deferred.cuh>

struct deposit {
  int amount;
  __device__ void operator()(int balance) const { balance += amount; }
};

unsigned partitions(int* balances) {
  warden::guarded<int, deposit> accounts{balances, 1};
  return warden::deferred{accounts, 10}.ref().log.partitions.partitions();
}
