// SPDX-License-Identifier: Apache-2.0
// A section of several lanes under a lock that a thread takes.

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
__device__ void run(row& r) { warden::run_section(add{1}, r, warden::no_context{}); }
