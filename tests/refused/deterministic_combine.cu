// SPDX-License-Identifier: Apache-2.0
// To be combined in a tree, but the section does not combine.

#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};
using in_trees = warden::policy<warden::options{}, warden::order::deterministic>;

void apply(warden::basic_guarded<in_trees, int, add>& all, unsigned const* ids, add const* of) {
  all.apply_async(ids, of, 1);
}
