// SPDX-License-Identifier: Apache-2.0
// Ids in host memory.
#include <warden/deferred.cuh>

#include <vector>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};

void send(warden::guarded<int, add>& sums, std::vector<unsigned> const& ids,
          warden::buffer<int> const& amounts) {
  sums.apply_async(ids, amounts);
}
