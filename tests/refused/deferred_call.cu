// SPDX-License-Identifier: Apache-2.0
// A call of a deferred section, which has no answer.

#include <warden/deferred.cuh>

struct look {
  __device__ int operator()(int& sum) const { return sum; }
};
using sums = warden::guarded<int, look>;

void ask(sums::deferred_ref all) { all.call(0, look{}); }
