// SPDX-License-Identifier: Apache-2.0
// Must not compile: a partial of 68 bytes.

#include <warden/guarded.cuh>

struct sample {
  std::uint32_t value;
  __device__ void operator()(std::uint32_t& sum, warden::no_context) const { sum += value; }
  struct partial {
    std::uint32_t value, count[16];
    __device__ explicit partial(sample s) : value{s.value}, count{1} {}
    __device__ void operator()(std::uint32_t& sum, warden::no_context) const { sum += value; }
    __device__ static partial combine(partial a, partial) { return a; }
  };
};

void make(std::uint32_t* records) { warden::guarded<std::uint32_t, sample>{records, 1}; }
