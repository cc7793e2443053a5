// SPDX-License-Identifier: Apache-2.0
// Must not compile: a leader warp without a follower.

#include <warden/fused.cuh>

struct count {
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};
using one_warp = warden::with_values<warden::paper_policy, &warden::options::block_threads, 32>;

unsigned servers(std::uint32_t* records) {
  return warden::basic_guarded<one_warp, std::uint32_t, count>{records, 1}.servers();
}
