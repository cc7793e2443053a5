// SPDX-License-Identifier: Apache-2.0
// Must not compile: windows are taken from messages that prove themselves, not from a bit-mask.

#include <warden/fused.cuh>

struct count {
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};
using runs_by_bitmask = warden::with_parts<warden::paper_policy, warden::executor::sorted<>>;

unsigned servers(std::uint32_t* records) {
  return warden::basic_guarded<runs_by_bitmask, std::uint32_t, count>{records, 1}.servers();
}
