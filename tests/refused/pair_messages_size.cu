// SPDX-License-Identifier: Apache-2.0
// Must not compile: a section on two records travels with one of them.

#include <warden/fused.cuh>

struct wide {
  std::uint32_t words[9];
};
struct exchange {
  std::uint32_t a, b;
  __device__ void operator()(wide& first, wide& second, warden::no_context) const {
    first.words[a & 7] = second.words[b & 7];
  }
};
using policy = warden::policy<warden::options{}, warden::executor::pair_messages<>>;
using exchangers = warden::basic_guarded<policy, wide, exchange>;

void make(std::uint32_t* ids, exchange* sections, exchangers& e) {
  e.apply_async(ids, ids, sections, 1);
}
