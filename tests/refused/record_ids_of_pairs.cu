// SPDX-License-Identifier: Apache-2.0
// A section on two records that takes their ids.

#include <warden/deferred_pairs.cuh>

struct move {
  __device__ void operator()(int& from, int& to, warden::record_id first,
                             warden::record_id second) const {
    if (first != second) ++to, --from;
  }
};
using sums = warden::guarded<int, move>;

unsigned servers(sums const& all) { return all.servers(); }
