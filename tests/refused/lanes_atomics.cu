// SPDX-License-Identifier: Apache-2.0
// A section of several lanes, by an executor that has one for each.

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
using by_atomics = warden::policy<warden::options{}, warden::executor::atomics<>>;
using rows = warden::basic_guarded<by_atomics, row, add>;

unsigned servers(rows const& r) { return r.servers(); }
