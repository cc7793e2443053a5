// SPDX-License-Identifier: Apache-2.0
// Must not compile: a leader warp without a follower.

#include <warden/guarded.cuh>
#include <warden/paper_policy.cuh>

struct count {
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};
struct one_warp : warden::paper_policy {
  static constexpr unsigned block_threads = 32;
};

void make(std::uint32_t* records) {
  warden::basic_guarded<one_warp, std::uint32_t, count>{records, 1};
}
