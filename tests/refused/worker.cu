// SPDX-License-Identifier: Apache-2.0
// Must not compile: the worker of an executor has no `finish`.

#include <warden/fused.cuh>

template <class Ref>
struct no_worker {
  static constexpr unsigned per_thread = 1;
  WARDEN_DEVICE no_worker(Ref const&, std::uint32_t, std::byte*) {}
  static constexpr std::size_t shared_bytes(std::size_t, unsigned) { return 0; }
  WARDEN_DEVICE void start() {}
  WARDEN_DEVICE void take(typename Ref::message_type const (&)[1], unsigned) {}
  WARDEN_DEVICE void execute(typename Ref::message_type const (&)[1], unsigned) {}
};
struct executor {
  static constexpr auto kind = warden::detail::part_kind::executor;
  template <class Ref>
  using server = warden::detail::window_server<Ref, no_worker<Ref>>;
};
using policy = warden::policy<warden::options{}, executor>;
struct add {
  __device__ void operator()(int& sum) const { ++sum; }
};
using sums = warden::basic_guarded<policy, int, add>;

struct kernel {
  __device__ void operator()(warden::virtual_block const&, sums::ref const&) const {}
};

void run(sums& all) { warden::launch_fused(kernel{}, 1, {}, all); }
