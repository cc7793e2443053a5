// SPDX-License-Identifier: Apache-2.0
// Must not compile: a fused launch does not run sections on two records by several lanes.

#include <warden/fused.cuh>

struct row {
  int words[8];
};
struct move {
  static constexpr unsigned group_size = 8;
  __device__ void operator()(row& from, row& to, warden::lane_group<8> const& group) const {
    ++to.words[group.lane()], --from.words[group.lane()];
  }
};
using policy = warden::policy<warden::options{}, warden::executor::pair_messages<>>;
using rows = warden::basic_guarded<policy, row, move>;

unsigned servers(rows const& all) { return all.servers(); }
