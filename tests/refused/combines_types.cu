// SPDX-License-Identifier: Apache-2.0
// Must not compile: sections of two types have no common `combine`.

#include <warden/guarded.cuh>

template <int>
struct count {
  static constexpr bool combines = true;
  std::uint32_t amount;
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += amount; }
  __device__ static count combine(count a, count b) { return {a.amount + b.amount}; }
};

void make(std::uint32_t* records) {
  warden::guarded<std::uint32_t, count<0>, count<1>>{records, 1};
}
