// SPDX-License-Identifier: Apache-2.0
// An owner's number that would be cut off.

#include <warden/allocate.cuh>

struct element {
  __device__ int operator()(std::uint64_t) const { return 0; }
};
struct owner {
  __device__ std::uint64_t operator()(std::uint64_t i) const { return i << 32; }
};

void part(warden::output<int>& out, std::uint64_t* begins) {
  warden::partition_async(10, element{}, owner{}, 4, out, begins);
}
