// SPDX-License-Identifier: Apache-2.0
// Must not compile: the policy combines, the section cannot, and the compiler says what is missing.

#include <warden/guarded.cuh>

struct count {
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};
struct combining_policy : warden::default_policy {
  static constexpr bool combines = true;
};

void make(std::uint32_t* records) {
  warden::basic_guarded<combining_policy, std::uint32_t, count>{records, 1};
}
