// SPDX-License-Identifier: Apache-2.0
// Must not compile: warden/deferred.cuh has no runs in rounds.

#include <warden/deferred.cuh>

struct move {
  __device__ void operator()(int& from, int& to) const { ++to, --from; }
};
using sums = warden::guarded<int, move>;

std::size_t bytes(sums& all) { return warden::deferred{all, 10}.memory_bytes(); }
