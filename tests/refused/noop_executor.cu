// SPDX-License-Identifier: Apache-2.0
// A section with is_noop, run by an executor that checks none.

#include <warden/deferred.cuh>

struct raise {
  int to;
  __device__ bool is_noop(int const& r) const { return r >= to; }
  __device__ void operator()(int& r) const {
    if (r < to) r = to;
  }
  __device__ void atomic(int* r, warden::no_context) const { warden::simt::fetch_max(r, to); }
};
using by_atomics = warden::policy<warden::options{}, warden::executor::atomics<>>;
using numbers = warden::basic_guarded<by_atomics, int, raise>;

unsigned servers(numbers const& n) { return n.servers(); }
