// SPDX-License-Identifier: Apache-2.0
// A section on two records with a row.

#include <warden/deferred.cuh>
#include <warden/deferred_pairs.cuh>

struct record {
  float values[64];
};
struct add {
  static constexpr unsigned group_size = 32;
  unsigned source;
  __device__ warden::row<float const, 64> payload(float const* rows) const {
    return {rows, source};
  }
  __device__ void operator()(record& a, warden::row_part<float, 64, 32> const& own, record const&,
                             warden::lane_group<32> const& group) const {
    a.values[group.lane()] += own[0];
  }
};
using records =
    warden::basic_guarded<warden::policy<warden::options{}, warden::context<float const*>>, record,
                          add>;

std::size_t size(records const& r) { return r.size(); }
