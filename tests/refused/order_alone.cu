// SPDX-License-Identifier: Apache-2.0
// In order, but sent by a thread alone.

#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};
using in_order = warden::policy<warden::options{}, warden::order::sequential>;
using sums = warden::basic_guarded<in_order, int, add>;

void send(sums::deferred_ref all) { all.send(0, add{1}); }
