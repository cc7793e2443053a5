// SPDX-License-Identifier: Apache-2.0
// A section of several lanes that says that it combines.

#include <warden/deferred.cuh>

struct row {
  int words[32];
};
struct add {
  static constexpr unsigned group_size = 32;
  static constexpr bool combines = true;
  int amount;
  __device__ void operator()(row& r, warden::lane_group<32> const& group) const {
    r.words[group.lane()] += amount;
  }
  __device__ static add combine(add a, add b) { return {a.amount + b.amount}; }
};
using rows = warden::guarded<row, add>;

unsigned servers(rows const& r) { return r.servers(); }
