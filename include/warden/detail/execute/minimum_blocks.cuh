// SPDX-License-Identifier: Apache-2.0
/// @file
/// Number of blocks that a multiprocessor must be able to hold, which bounds the registers of a
/// launch, and number of blocks that a device holds by its threads and shared memory.
#pragma once

#include <warden/detail/execute/automatic_blocks.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the largest number of threads that an SM must be able to hold, with servers of `Ref`.
template <class Ref>
constexpr unsigned most_threads() {
  if constexpr (Ref::sends_sections) {
    return Ref::server::threads_per_multiprocessor;
  } else {
    return ~0u;
  }
}
/// True if the number of blocks that an SM must hold is chosen for each kernel.
template <class Guarded>
inline constexpr bool chooses_blocks =
    Guarded::policy::minimum_blocks_per_multiprocessor == automatic_blocks;
/// Returns the number of blocks that an SM must be able to hold, at first: the policy's number, but
/// no more than the servers allow.
template <class First, class... Rest>
constexpr unsigned minimum_blocks() {
  constexpr unsigned most =
      std::min({most_threads<typename First::ref>(), most_threads<typename Rest::ref>()...});
  constexpr unsigned wanted =
      chooses_blocks<First> ? 3 : First::policy::minimum_blocks_per_multiprocessor;
  return std::min(wanted, std::max(1u, most / First::policy::block_threads));
}

/// Returns the number of blocks of this many threads and bytes of shared memory that a device
/// holds, unless registers allow fewer.
inline std::uint64_t blocks_that_hold(runtime::device_facts const& facts, unsigned threads,
                                      std::size_t shared_bytes) {
  auto const by_threads = static_cast<unsigned>(facts.threads_per_multiprocessor) / threads;
  std::size_t const by_memory = facts.shared_bytes_per_multiprocessor /
                                (shared_bytes + facts.reserved_shared_bytes_per_block);
  return std::min<std::uint64_t>(by_threads, by_memory) *
         static_cast<unsigned>(facts.multiprocessors);
}

}  // namespace detail
WARDEN_NAMESPACE_END
