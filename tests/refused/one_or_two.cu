// SPDX-License-Identifier: Apache-2.0
// Must not compile: nobody can tell whether its second parameter is a record or the context.

#include <warden/guarded.cuh>

struct add {
  __device__ void operator()(auto& a, auto& b) const { a += b; }
};
using adders = warden::guarded<std::uint32_t, add>;

void make(std::uint32_t* ids, add* adds, adders& a) { a.apply_async(ids, ids, adds, 1); }
