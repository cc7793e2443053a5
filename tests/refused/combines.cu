// SPDX-License-Identifier: Apache-2.0
// Must not compile: the section says that it combines, but has no `combine`.

#include <warden/guarded.cuh>

struct count {
  static constexpr bool combines = true;
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};

void make(std::uint32_t* records) { warden::guarded<std::uint32_t, count>{records, 1}; }
