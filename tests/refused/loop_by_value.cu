// SPDX-License-Identifier: Apache-2.0
// Must not compile: the function changes a copy of its record.

#include <warden/deferred.cuh>
#include <warden/guarded_loop.cuh>

struct add_index {
  __device__ void operator()(int sum, std::uint32_t i) const { sum += i; }
};

void run(warden::buffer<int>& sums, warden::buffer<std::uint32_t> const& ids) {
  auto loop = warden::make_guarded_loop(sums, add_index{});
  loop.apply_async(ids);
}
