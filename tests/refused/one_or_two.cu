// SPDX-License-Identifier: Apache-2.0
// Must not compile: a section is on one record or on two.

#include <warden/guarded.cuh>

struct add {
  __device__ void operator()(std::uint32_t& a) const { ++a; }
  __device__ void operator()(std::uint32_t& a, std::uint32_t& b) const { a += b; }
};
using adders = warden::guarded<std::uint32_t, add>;

void make(std::uint32_t* ids, add* adds, adders& a) { a.apply_async(ids, adds, 1); }
