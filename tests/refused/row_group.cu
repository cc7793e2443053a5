// SPDX-License-Identifier: Apache-2.0
// A section with a row that does not say how many lanes load it.

#include <warden/deferred.cuh>

struct record {
  float values[4];
};
struct add {
  unsigned source;
  __device__ warden::row<float const, 4> payload(float const* rows) const { return {rows, source}; }
  __device__ void operator()(record& r, warden::row_part<float, 4, 1> const& own) const {
    r.values[0] += own[0];
  }
};
using records =
    warden::basic_guarded<warden::policy<warden::options{}, warden::context<float const*>>, record,
                          add>;

std::size_t size(records const& r) { return r.size(); }
