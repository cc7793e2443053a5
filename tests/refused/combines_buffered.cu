// SPDX-License-Identifier: Apache-2.0
// Must not compile: the buffers of the paper's sender leave one by one, with nothing to combine.

#include <warden/fused.cuh>

struct add {
  std::uint32_t amount;
  __device__ void operator()(std::uint32_t& sum, warden::no_context) const { sum += amount; }
  __device__ static add combine(add a, add b) { return {a.amount + b.amount}; }
};
using combining_paper =
    warden::with_values<warden::paper_policy, &warden::tuning::combine_in_fused, true>;

unsigned servers(std::uint32_t* records) {
  return warden::basic_guarded<combining_paper, std::uint32_t, add>{records, 1}.servers();
}
