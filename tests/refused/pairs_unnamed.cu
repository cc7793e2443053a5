// SPDX-License-Identifier: Apache-2.0
// Must not compile: a fused launch with sections on two records, and a policy without an executor.

#include <warden/fused.cuh>

struct move {
  __device__ void operator()(int& from, int& to) const { ++to, --from; }
};
using sums = warden::guarded<int, move>;

struct kernel {
  __device__ void operator()(warden::virtual_block const& at, sums::ref const& all) const {
    sums::thread_client client{all, at};
    client.send(at.thread_rank(), 0, move{});
  }
};

void run(sums& all) { warden::launch_fused(kernel{}, 1, {}, all); }
