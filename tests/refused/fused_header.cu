// SPDX-License-Identifier: Apache-2.0
// Must not compile: warden/deferred.cuh has no fused launches.

#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};
using sums = warden::guarded<int, add>;

unsigned servers(sums const& all) { return all.servers(); }
