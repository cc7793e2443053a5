// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many blocks a multiprocessor must be able to hold, which bounds the registers of a launch.
#pragma once

#include <warden/policy.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads that an SM must be able to hold, at most, with servers of `Ref`.
template <class Ref>
constexpr unsigned most_threads() {
  if constexpr (Ref::has_forwards) {
    return Ref::server::threads_per_multiprocessor;
  } else {
    return ~0u;
  }
}
/// Whether it is chosen for each kernel how many blocks an SM must be able to hold.
template <class Guarded>
inline constexpr bool chooses_blocks =
    Guarded::policy::minimum_blocks_per_multiprocessor == automatic_blocks;
/// Blocks that an SM must be able to hold, at first: by the policy, but no more than the servers
/// allow.
template <class First, class... Rest>
constexpr unsigned minimum_blocks() {
  constexpr unsigned most =
      std::min({most_threads<typename First::ref>(), most_threads<typename Rest::ref>()...});
  constexpr unsigned wanted =
      chooses_blocks<First> ? 3 : First::policy::minimum_blocks_per_multiprocessor;
  return std::min(wanted, std::max(1u, most / First::policy::block_threads));
}

}  // namespace detail
WARDEN_NAMESPACE_END
