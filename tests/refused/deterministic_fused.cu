// SPDX-License-Identifier: Apache-2.0
// To be combined in a tree, by a fused launch.

#include <warden/fused.cuh>

struct add {
  int amount;
  __device__ static add combine(add a, add b) { return {a.amount + b.amount}; }
  __device__ void operator()(int& sum) const { sum += amount; }
};
using in_trees = warden::policy<warden::options{}, warden::order::deterministic>;
using sums = warden::basic_guarded<in_trees, int, add>;

unsigned servers(sums const& s) { return s.servers(); }
