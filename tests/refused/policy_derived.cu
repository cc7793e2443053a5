// SPDX-License-Identifier: Apache-2.0
// Must not compile: a struct that derives from a policy could have a misspelt member, as here.

#include <warden/guarded.cuh>

struct add {
  __device__ void operator()(int& sum) const { ++sum; }
};
struct policy : warden::policy<> {
  static constexpr unsigned block_thread = 512;
};
using sums = warden::basic_guarded<policy, int, add>;

unsigned servers(sums const& s) { return s.servers(); }
