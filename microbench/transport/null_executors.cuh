// SPDX-License-Identifier: Apache-2.0
// Executors that only receive: each thread adds up the payloads of its messages in registers.
#pragma once

#include "microbench/transport/totals.cuh"

#include <warden/detail/execute/policy_parts.cuh>
#include <warden/detail/fused/paper/leader_server.cuh>
#include <warden/detail/fused/slice_server.cuh>
#include <warden/detail/fused/window_server.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace transport {

/// Null executor for windows. Precondition: the context of the guarded array points to run_totals.
template <class Ref>
class adding_windows {
 public:
  using message_type = typename Ref::message_type;
  /// Messages of a thread in a window. Windows are as large as those of the executor `sorted`.
  static constexpr unsigned per_thread = std::max<unsigned>(1, 128 / sizeof(message_type));
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t, unsigned) { return 0; }

  WARDEN_DEVICE adding_windows(Ref const& ref, std::uint32_t, std::byte*) : ref_{ref} {}
  WARDEN_DEVICE void start() const {}
  WARDEN_DEVICE void take(message_type const (&m)[per_thread], unsigned arrived) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      if (arrived >> k & 1u) received_.add(m[k]);
    }
  }
  WARDEN_DEVICE void execute(message_type const (&)[per_thread], unsigned) const {}
  WARDEN_DEVICE void finish() const { received_.add_to(ref_.sections_context->received); }

 protected:
  Ref const& ref_;

 private:
  partial_total received_;
};

/// Null executor for slices.
template <class Ref>
class adding_slices {
 public:
  using message_type = typename Ref::message_type;
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t) { return 0; }

  WARDEN_DEVICE adding_slices(Ref const& ref, std::uint32_t, std::byte*) : ref_{ref} {}
  WARDEN_DEVICE void start() const {}
  WARDEN_DEVICE bool run(message_type const& m, bool arrived) {
    if (arrived) received_.add(m);
    return true;
  }
  WARDEN_DEVICE void finish() const { received_.add_to(ref_.sections_context->received); }

 protected:
  Ref const& ref_;

 private:
  partial_total received_;
};

/// The receive levels.
struct windows {
  static constexpr auto kind = warden::detail::part_kind::executor;
  static constexpr char const* name = "windows";
  template <class Ref>
  using server = warden::detail::window_server<Ref, adding_windows<Ref>>;
};
struct slices {
  static constexpr auto kind = warden::detail::part_kind::executor;
  static constexpr char const* name = "slices";
  template <class Ref>
  using server = warden::detail::slice_server<Ref, adding_slices<Ref>>;
};
struct leader {
  static constexpr auto kind = warden::detail::part_kind::executor;
  static constexpr char const* name = "leader";
  template <class Ref>
  using server = warden::detail::leader_server<Ref, adding_slices<Ref>>;
};

}  // namespace transport
