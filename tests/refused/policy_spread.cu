// SPDX-License-Identifier: Apache-2.0
// Must not compile: a struct that derives from a policy, of a spread guarded array.

#include <warden/spread.cuh>

struct add {
  __device__ void operator()(int& sum) const { ++sum; }
};
struct policy : warden::policy<> {};
using sums = warden::basic_spread_guarded<policy, int, add>;

std::uint64_t size(sums const& s) { return s.size(); }
