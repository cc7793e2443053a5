// SPDX-License-Identifier: Apache-2.0
// A section on a copy of its record that it cannot store.

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
  __device__ static float load_record(record const& r, warden::lane_group<32> const& group) {
    return r.values[group.lane()];
  }
  __device__ void operator()(float& copy, warden::row_part<float, 64, 32> const& own,
                             warden::lane_group<32> const&) const {
    copy += own[0];
  }
};
using records =
    warden::basic_guarded<warden::policy<warden::options{}, warden::context<float const*>>, record,
                          add>;

std::size_t size(records const& r) { return r.size(); }
