// SPDX-License-Identifier: Apache-2.0
// Must not compile: a section that was combined has no answer for each of its parts.

#include <warden/fused.cuh>

struct add {
  std::uint32_t amount;
  __device__ std::uint32_t operator()(std::uint32_t& sum, warden::no_context) const {
    return sum += amount;
  }
  __device__ static add combine(add a, add b) { return {a.amount + b.amount}; }
};
using combining = warden::policy<warden::options{.tuning = {.combine_in_fused = true}}>;

unsigned servers(std::uint32_t* records) {
  return warden::basic_guarded<combining, std::uint32_t, add>{records, 1}.servers();
}
