// SPDX-License-Identifier: Apache-2.0
// A function of apply_async that says to which record its section goes, as the ids do.
#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};
struct one {
  __device__ auto operator()(std::uint64_t) const { return warden::to{0, add{1}}; }
};

void send(warden::guarded<int, add>& sums, std::uint32_t const* ids) {
  sums.apply_async(ids, 10, one{});
}
