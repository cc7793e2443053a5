// SPDX-License-Identifier: Apache-2.0
// A count that may be negative.

#include <warden/allocate.cuh>

struct count {
  __device__ int operator()(std::uint64_t i) const { return static_cast<int>(i) - 1; }
};
struct element {
  __device__ int operator()(std::uint64_t, std::uint32_t) const { return 0; }
};

void emit(warden::output<int>& out) { warden::allocate_async(10, count{}, element{}, out); }
