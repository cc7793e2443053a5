// SPDX-License-Identifier: Apache-2.0
// Must not compile: a policy has two executors.

#include <warden/guarded.cuh>

struct add {
  __device__ void operator()(int& sum) const { ++sum; }
};
using policy =
    warden::policy<warden::options{}, warden::executor::sorted<>, warden::executor::locks<>>;
using sums = warden::basic_guarded<policy, int, add>;

unsigned servers(sums const& s) { return s.servers(); }
