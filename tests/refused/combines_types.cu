// SPDX-License-Identifier: Apache-2.0
// Must not compile: sections of two types have no common `combine`.

#include <warden/guarded.cuh>

template <int>
struct count {
  std::uint32_t amount;
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += amount; }
  __device__ static count combine(count a, count b) { return {a.amount + b.amount}; }
};
struct combining_policy : warden::default_policy {
  static constexpr bool combines = true;
};

void make(std::uint32_t* records) {
  warden::basic_guarded<combining_policy, std::uint32_t, count<0>, count<1>>{records, 1};
}
