// SPDX-License-Identifier: Apache-2.0
// A kernel that looks at records of other ranks.

#include <warden/spread.cuh>

struct add {
  __device__ void operator()(int& r) const { ++r; }
};
using sums = warden::spread_guarded<int, add>;

WARDEN_KERNEL void send(sums::deferred_ref ref) {
  ref.send_if(0, add{}, [](int r) { return r < 10; });
}
