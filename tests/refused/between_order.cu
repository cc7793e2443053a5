// SPDX-License-Identifier: Apache-2.0
// A log between two guarded arrays whose sections run in order.

#include <warden/deferred.cuh>
#include <warden/deferred_pairs.cuh>

struct seen {
  __device__ void operator()(int& user) const { ++user; }
  __device__ void operator()(long& item) const { ++item; }
};
using policy = warden::policy<warden::options{}, warden::order::sequential>;
using users = warden::basic_guarded<policy, int, seen>;
using items = warden::basic_guarded<policy, long, seen>;

struct rate {
  __device__ void operator()(int& user, long& item) const { ++user, ++item; }
};
using ratings = warden::deferred_between<users, items, rate>;

std::size_t bytes(users& u, items& i) { return ratings{u, i, 10}.memory_bytes(); }
