// SPDX-License-Identifier: Apache-2.0
// A section on two arrays with one type of records.

#include <warden/deferred_several.cuh>

using all = warden::record_types<int, warden::growing<int>>;
struct names_int {
  __device__ void access(warden::access_list<1, all>& a) const { a.write<int>(0); }
};

__device__ void name(warden::access_list<1, all>& a) { names_int{}.access(a); }
