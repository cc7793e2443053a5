// SPDX-License-Identifier: Apache-2.0
// Must not compile: a fused launch has no order.

#include <warden/fused.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};
using in_order = warden::policy<warden::options{}, warden::order::sequential>;
using sums = warden::basic_guarded<in_order, int, add>;

unsigned servers(sums const& s) { return s.servers(); }
