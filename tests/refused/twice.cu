// SPDX-License-Identifier: Apache-2.0
// Must not compile: both would have one tag, and each message would run both.

#include <warden/guarded.cuh>

struct count {
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};

void make(std::uint32_t* records) { warden::guarded<std::uint32_t, count, count>{records, 1}; }
