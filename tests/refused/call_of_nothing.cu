// SPDX-License-Identifier: Apache-2.0
// Must not compile: there would be nothing to wait for.

#include <warden/fused.cuh>

struct count {
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};
using counters = warden::guarded<std::uint32_t, count>;

struct calls {
  __device__ void operator()(warden::virtual_block const& at, counters::ref const& ref) const {
    static_cast<void>(counters::thread_client{ref, at}.call(0, count{}));
  }
};

void make(counters& c) { warden::launch_fused(calls{}, 1, 256, {}, c); }
