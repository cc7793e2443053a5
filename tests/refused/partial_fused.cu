// SPDX-License-Identifier: Apache-2.0
// Must not compile: partials of another type are made in a log alone.

#include <warden/fused.cuh>

struct sample {
  std::uint32_t value;
  __device__ void operator()(std::uint32_t& sum, warden::no_context) const { sum += value; }
  struct partial {
    std::uint32_t value, count;
    __device__ explicit partial(sample s) : value{s.value}, count{1} {}
    __device__ void operator()(std::uint32_t& sum, warden::no_context) const { sum += value; }
    __device__ static partial combine(partial a, partial) { return a; }
  };
};
using combining = warden::policy<warden::options{.tuning = {.combine_in_fused = true}}>;

unsigned servers(std::uint32_t* records) {
  return warden::basic_guarded<combining, std::uint32_t, sample>{records, 1}.servers();
}
