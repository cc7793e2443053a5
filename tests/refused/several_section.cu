// SPDX-License-Identifier: Apache-2.0
// A section on several records that returns nothing.

#include <warden/deferred_several.cuh>
#include <warden/guarded.cuh>

struct clear {
  __device__ void operator()(int& value) const { value = 0; }
};
struct swap_values {
  __device__ void access(warden::access_list<2>& a) const { a.write(0), a.write(1); }
  __device__ void operator()(warden::records<int, 2>& r) const { r.write(0) = r.read(1); }
};
using values = warden::guarded<int, clear>;

void run(values& all) { warden::deferred_several<values, swap_values>{all, 10}; }
