// SPDX-License-Identifier: Apache-2.0
// A loop whose function holds a host object.
#include <warden/guarded_loop.cuh>

#include <vector>

struct add {
  std::vector<int> amounts;
  __device__ void operator()(int& sum, std::uint32_t i) const { sum += amounts[i]; }
};

void make(warden::buffer<int>& sums) { static_cast<void>(warden::make_guarded_loop(sums, add{})); }
