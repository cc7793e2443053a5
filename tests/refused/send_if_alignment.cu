// SPDX-License-Identifier: Apache-2.0
// A kernel that looks at a record of less than a word.

#include <warden/deferred.cuh>

struct add {
  __device__ void operator()(short& r) const { ++r; }
};
using sums = warden::guarded<short, add>;

WARDEN_KERNEL void send(sums::deferred_ref ref) {
  ref.send_if(0, add{}, [](short r) { return r < 10; });
}
