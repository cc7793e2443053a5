// SPDX-License-Identifier: Apache-2.0
// A section on several arrays that names a record of a type that none of them has.

#include <warden/deferred_several.cuh>

using all = warden::record_types<int, warden::growing<float>>;
struct names_double {
  __device__ void access(warden::access_list<1, all>& a) const { a.write<double>(0); }
};

__device__ void name(warden::access_list<1, all>& a) { names_double{}.access(a); }
