// SPDX-License-Identifier: Apache-2.0
// Values in host memory.
#include <warden/deferred.cuh>

#include <vector>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};

void send(warden::guarded<int, add>& sums, warden::buffer<unsigned> const& ids,
          std::vector<int> const& amounts) {
  sums.apply_async(ids, amounts);
}
