// SPDX-License-Identifier: Apache-2.0
// Must not compile: the context's type stands without `warden::context`.

#include <warden/guarded.cuh>

struct add {
  __device__ void operator()(int& sum) const { ++sum; }
};
using sums = warden::basic_guarded<warden::policy<warden::options{}, int const*>, int, add>;

unsigned servers(sums const& s) { return s.servers(); }
