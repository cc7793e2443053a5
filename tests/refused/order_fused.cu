// SPDX-License-Identifier: Apache-2.0
// In order, but not deferred.

#include <warden/guarded.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};
struct in_order : warden::default_policy {
  using order = warden::order::sequential;
};
using sums = warden::basic_guarded<in_order, int, add>;

void make(int* records) { sums s{records, 10}; }
