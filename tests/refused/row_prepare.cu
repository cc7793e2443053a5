// SPDX-License-Identifier: Apache-2.0
// A section that prepares, but does not run on a copy of its record.

#include <warden/deferred.cuh>

struct record {
  float values[64];
};
struct add {
  static constexpr unsigned group_size = 32;
  using part = warden::row_part<float, 64, 32>;
  unsigned source;
  __device__ warden::row<float const, 64> payload(float const* rows) const {
    return {rows, source};
  }
  __device__ float prepare(part const& own, warden::lane_group<32> const&) const { return own[0]; }
  __device__ void operator()(record& r, part const& own, float,
                             warden::lane_group<32> const& group) const {
    r.values[group.lane()] += own[0];
  }
};
using records =
    warden::basic_guarded<warden::policy<warden::options{}, warden::context<float const*>>, record,
                          add>;

std::size_t size(records const& r) { return r.size(); }
