// SPDX-License-Identifier: Apache-2.0
// In order, by an executor that keeps none.

#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};
using by_locks =
    warden::policy<warden::options{}, warden::executor::locks<>, warden::order::sequential>;
using sums = warden::basic_guarded<by_locks, int, add>;

void make(sums& s) { warden::deferred later{s, 10}; }
