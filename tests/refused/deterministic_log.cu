// SPDX-License-Identifier: Apache-2.0
// A log of sections that are combined in a tree.

#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ static add combine(add a, add b) { return {a.amount + b.amount}; }
  __device__ void operator()(int& sum) const { sum += amount; }
};
using in_trees = warden::policy<warden::options{}, warden::order::deterministic>;

void run(warden::basic_guarded<in_trees, int, add>& all) {
  warden::deferred log{all, 10};
  log.run();
}
