// SPDX-License-Identifier: Apache-2.0
// Must not compile: the caller would read what operator() returns, and be sent what atomic() does.

#include <warden/fused.cuh>

struct take {
  __device__ std::uint64_t operator()(std::uint64_t& next, warden::no_context) const {
    return next++;
  }
  __device__ std::uint32_t atomic(std::uint64_t* next, warden::no_context) const {
    return static_cast<std::uint32_t>(warden::simt::fetch_add(next, std::uint64_t{1}));
  }
};
using by_atomics = warden::policy<warden::options{}, warden::executor::atomics<>>;
using tickets = warden::basic_guarded<by_atomics, std::uint64_t, take>;

void make(std::uint32_t* ids, take* takes, tickets& t) { t.apply_async(ids, takes, 1); }
