// SPDX-License-Identifier: Apache-2.0
// Must not compile: servers by `locks` send nothing.

#include <warden/fused.cuh>

struct pass_on {
  template <class Next>
  __device__ void operator()(std::uint32_t& a, warden::no_context, Next& next) const {
    next.send(a, *this);
  }
};
using policy = warden::policy<warden::options{}, warden::executor::locks<>>;
using passed = warden::basic_guarded<policy, std::uint32_t, pass_on>;

void make(std::uint32_t* ids, pass_on* sections, passed& p) { p.apply_async(ids, sections, 1); }
