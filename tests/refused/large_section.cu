// SPDX-License-Identifier: Apache-2.0
// Must not compile: a message has no room for the section.

#include <warden/guarded.cuh>

struct large {
  std::uint32_t words[12];
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += words[0]; }
};

void make(std::uint32_t* records) { warden::guarded<std::uint32_t, large>{records, 1}; }
