// SPDX-License-Identifier: Apache-2.0
// Must not compile: warden/deferred.cuh has no fused launch for a log of sections that send
// sections.

#include <warden/deferred.cuh>

struct pass_on {
  template <class Next>
  __device__ void operator()(int& sum, warden::no_context, Next& next) const {
    if (--sum > 0) next.send(0, pass_on{});
  }
};
using sums = warden::guarded<int, pass_on>;

std::size_t bytes(sums& all) { return warden::deferred{all, 10}.memory_bytes(); }
