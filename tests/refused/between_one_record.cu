// SPDX-License-Identifier: Apache-2.0
// A section on one record, sent to a log between two guarded arrays.

#include <warden/deferred.cuh>
#include <warden/deferred_pairs.cuh>

struct seen {
  __device__ void operator()(int& user) const { ++user; }
  __device__ void operator()(long& item) const { ++item; }
};
using users = warden::guarded<int, seen>;
using items = warden::guarded<long, seen>;

struct rate {
  __device__ void operator()(int& user, long& item) const { ++user, ++item; }
};
using ratings = warden::deferred_between<users, items, rate>;

void send(ratings::ref_type const& later) { later.send(3, seen{}); }
