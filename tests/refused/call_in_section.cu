// SPDX-License-Identifier: Apache-2.0
// Must not compile: a section that calls would wait for servers, its own among them.

#include <warden/fused.cuh>

struct take {
  __device__ std::uint32_t operator()(std::uint32_t& next, warden::no_context) const {
    return next++;
  }
};
using tickets = warden::guarded<std::uint32_t, take>;

struct others {
  tickets::ref const* ref;
};
struct take_of_another {
  __device__ std::uint32_t operator()(std::uint32_t&, others context) const {
    return tickets::thread_client{*context.ref}.call(0, take{}).get().value_or(0);
  }
};
using calling = warden::policy<warden::options{}, warden::context<others>>;

void make(std::uint32_t* records) {
  warden::basic_guarded<calling, std::uint32_t, take_of_another>{records, 1, others{nullptr}};
}
