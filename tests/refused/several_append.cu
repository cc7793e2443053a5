// SPDX-License-Identifier: Apache-2.0
// A section that appends rows to an array that does not grow.

#include <warden/deferred_several.cuh>

using all = warden::record_types<int, warden::growing<float>>;
struct appends_int {
  __device__ void access(warden::access_list<1, all>& a) const { a.append<int>(); }
};

__device__ void name(warden::access_list<1, all>& a) { appends_int{}.access(a); }
