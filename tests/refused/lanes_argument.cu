// SPDX-License-Identifier: Apache-2.0
// A section that says lanes and takes no group.

#include <warden/deferred.cuh>

struct row {
  int words[32];
};
struct add {
  static constexpr unsigned group_size = 4;
  int amount;
  __device__ void operator()(row& r) const { r.words[0] += amount; }
};
using rows = warden::guarded<row, add>;

unsigned servers(rows const& r) { return r.servers(); }
