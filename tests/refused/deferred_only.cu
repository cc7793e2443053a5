// SPDX-License-Identifier: Apache-2.0
// A guarded that has no channels, in a fused launch.

#include <warden/guarded.cuh>
#include <warden/launch.cuh>

struct add {
  __device__ void operator()(int& sum) const { ++sum; }
};
struct policy : warden::default_policy {
  static constexpr bool deferred_only = true;
};
using sums = warden::basic_guarded<policy, int, add>;
struct kernel {
  __device__ void operator()(warden::virtual_block const&, sums::ref const&) const {}
};

void launch(sums& all) { warden::launch_fused(kernel{}, 1, {}, all); }
