// SPDX-License-Identifier: Apache-2.0
// Sections of their numbers, but of which type?
#include <warden/deferred.cuh>

struct add {
  unsigned amount;
  __device__ void operator()(unsigned& sum) const { sum += amount; }
};
struct multiply {
  unsigned factor;
  __device__ void operator()(unsigned& sum) const { sum *= factor; }
};

void send(warden::guarded<unsigned, add, multiply>& sums, warden::buffer<unsigned> const& ids) {
  sums.apply_async(ids);
}
