// SPDX-License-Identifier: Apache-2.0
// To be combined in a tree, but sent by a thread alone.

#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ static add combine(add a, add b) { return {a.amount + b.amount}; }
  __device__ void operator()(int& sum) const { sum += amount; }
};
using in_trees = warden::policy<warden::options{}, warden::order::deterministic>;
using sums = warden::basic_guarded<in_trees, int, add>;

void send(sums::deferred_ref all) { all.send(0, add{1}); }
