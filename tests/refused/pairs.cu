// SPDX-License-Identifier: Apache-2.0
// Must not compile: an owner thread of the executor `sorted` owns one of the two records only.

#include <warden/fused.cuh>

struct swap {
  __device__ void operator()(std::uint32_t& a, std::uint32_t& b, warden::no_context) const {
    std::uint32_t const c = a;
    a = b;
    b = c;
  }
};
using policy = warden::policy<warden::options{}, warden::executor::sorted<>>;
using swappers = warden::basic_guarded<policy, std::uint32_t, swap>;

void make(std::uint32_t* ids, swap* swaps, swappers& s) { s.apply_async(ids, ids, swaps, 1); }
