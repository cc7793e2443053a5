// SPDX-License-Identifier: Apache-2.0
// Must not compile: the section cannot combine, and the compiler says what is missing.

#include <warden/detail/baseline/atomics_combined.cuh>
#include <warden/section.cuh>

struct add {
  std::uint64_t amount;
  __device__ void operator()(std::uint64_t& sum, warden::no_context) const { sum += amount; }
};
struct make {
  __device__ add operator()(std::uint32_t i) const { return {i}; }
};

void combine(warden::baseline::work<std::uint64_t, make, warden::no_context> const& work) {
  warden::baseline::atomics_combined_async(work, 1);
}
