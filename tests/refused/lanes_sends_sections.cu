// SPDX-License-Identifier: Apache-2.0
// A section of several lanes and a section that sends sections.

#include <warden/deferred.cuh>

struct row {
  int words[32];
};
struct add {
  static constexpr unsigned group_size = 32;
  int amount;
  __device__ void operator()(row& r, warden::lane_group<32> const& group) const {
    r.words[group.lane()] += amount;
  }
};
struct pass {
  template <class Next>
  __device__ void operator()(row&, warden::no_context, Next& next) const {
    next.send(0, add{1});
  }
};
using rows = warden::guarded<row, add, pass>;

unsigned servers(rows const& r) { return r.servers(); }
