// SPDX-License-Identifier: Apache-2.0
// Three lanes are no part of a warp.

#include <warden/deferred.cuh>

struct row {
  int words[32];
};
struct add {
  static constexpr unsigned group_size = 3;
  int amount;
  __device__ void operator()(row& r, warden::lane_group<3> const& group) const {
    r.words[group.lane()] += amount;
  }
};
using rows = warden::guarded<row, add>;

unsigned servers(rows const& r) { return r.servers(); }
