// SPDX-License-Identifier: Apache-2.0
// A section that takes the records of two guarded arrays the other way round.

#include <warden/deferred.cuh>
#include <warden/deferred_pairs.cuh>

struct seen {
  __device__ void operator()(int& user) const { ++user; }
  __device__ void operator()(long& item) const { ++item; }
};
using users = warden::guarded<int, seen>;
using items = warden::guarded<long, seen>;

struct rate {
  __device__ void operator()(long& item, int& user) const { ++item, ++user; }
};
using ratings = warden::deferred_between<users, items, rate>;

std::size_t bytes(users& u, items& i) { return ratings{u, i, 10}.memory_bytes(); }
