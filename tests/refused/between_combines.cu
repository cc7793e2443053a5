// SPDX-License-Identifier: Apache-2.0
// A log between two guarded arrays, the first of which combines sections.

#include <warden/deferred.cuh>
#include <warden/deferred_pairs.cuh>

struct seen {
  __device__ void operator()(int& user) const { ++user; }
  __device__ void operator()(long& item) const { ++item; }
  __device__ static seen combine(seen, seen) { return {}; }
};
struct policy : warden::default_policy {
  static constexpr bool combines = true;
};
using users = warden::basic_guarded<policy, int, seen>;
using items = warden::guarded<long, seen>;

struct rate {
  __device__ void operator()(int& user, long& item) const { ++user, ++item; }
};
using ratings = warden::deferred_between<users, items, rate>;

std::size_t bytes(users& u, items& i) { return ratings{u, i, 10}.memory_bytes(); }
