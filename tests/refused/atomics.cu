// SPDX-License-Identifier: Apache-2.0
// The executor atomics needs sections that say how they are one atomic.

#include <warden/fused.cuh>

#include <cstdint>

struct add {
  std::uint32_t amount;
  __device__ void operator()(std::uint32_t& sum, warden::no_context) const { sum += amount; }
};
using policy = warden::policy<warden::options{}, warden::executor::atomics<>>;

struct kernel {
  template <class Ref>
  __device__ void operator()(warden::virtual_block const&, Ref const&) const {}
};

int main() {
  warden::buffer<std::uint32_t> records{1};
  warden::basic_guarded<policy, std::uint32_t, add> g{records};
  warden::launch_fused(kernel{}, 1, 256, {}, g);
}
