// SPDX-License-Identifier: Apache-2.0
// A loop over rows whose rows are single numbers.
#include <warden/guarded_loop.cuh>

using part = warden::row_part<float, 64, 8>;
struct add {
  __device__ void operator()(part&, float&, part const&) const {}
};

void make(warden::buffer<float>& rows, warden::buffer<float>& states,
          warden::buffer<warden::elements<float, 64>>& values) {
  static_cast<void>(warden::make_row_loop<8>(rows, states, values, add{}));
}
