// SPDX-License-Identifier: Apache-2.0
// A question to sections on two records.

#include <warden/deferred.cuh>

struct row {
  int words[32];
};
struct move {
  static constexpr unsigned group_size = 32;
  int amount;
  __device__ bool is_noop(row const&) const { return amount == 0; }
  __device__ void operator()(row& from, row& to, warden::lane_group<32> const& group) const {
    from.words[group.lane()] -= amount;
    to.words[group.lane()] += amount;
  }
};
using rows = warden::guarded<row, move>;

unsigned servers(rows const& r) { return r.servers(); }
