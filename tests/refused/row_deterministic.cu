// SPDX-License-Identifier: Apache-2.0
// order::deterministic with rows that do not combine.

#include <warden/deferred.cuh>

struct record {
  float values[64];
};
struct add {
  static constexpr unsigned group_size = 32;
  unsigned source;
  __device__ warden::row<float const, 64> payload(float const* rows) const {
    return {rows, source};
  }
  __device__ void operator()(record& r, warden::row_part<float, 64, 32> const& own,
                             warden::lane_group<32> const& group) const {
    r.values[group.lane()] += own[0];
  }
};
using records = warden::basic_guarded<
    warden::policy<warden::options{}, warden::order::deterministic, warden::context<float const*>>,
    record, add>;

std::size_t size(records const& r) { return r.size(); }
