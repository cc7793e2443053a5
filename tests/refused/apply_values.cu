// SPDX-License-Identifier: Apache-2.0
// Values of which no section can be made without a loss.
#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};

void send(warden::guarded<int, add>& sums, warden::buffer<unsigned> const& ids,
          warden::buffer<double> const& amounts) {
  sums.apply_async(ids, amounts);
}
