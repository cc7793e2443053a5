// SPDX-License-Identifier: Apache-2.0
// A log of sections on two records, in order.

#include <warden/deferred_pairs.cuh>

struct move {
  __device__ void operator()(int& from, int& to) const { ++to, --from; }
};
using in_order = warden::policy<warden::options{}, warden::order::sequential>;
using sums = warden::basic_guarded<in_order, int, move>;

std::size_t bytes(sums& all) { return warden::deferred{all, 10}.memory_bytes(); }
