// SPDX-License-Identifier: Apache-2.0
// Calls by block clients whose ids lie in memory.
#pragma once

#include <warden/fused.cuh>

#include <cstdint>

namespace bench {

namespace detail {
/// Calls `K` and those after it, flushes, and waits for their answers. Recursive: each future has
/// a name, where an array of them would lie in local memory.
template <unsigned K, class Client, class Calls, unsigned AtOnce>
__device__ void call_each(Client& client, std::uint32_t const (&id)[AtOnce], Calls const& calls,
                          std::uint32_t offset, std::uint32_t step) {
  if constexpr (K == AtOnce) {
    client.flush();
  } else {
    bool const valid = offset < calls.n();
    auto answer = client.call(id[K], calls.section(offset), valid);
    call_each<K + 1>(client, id, calls, offset + step, step);
    if (valid) calls.answered(offset, answer.get());
  }
}
}  // namespace detail

/// Every thread of the launch makes as many calls as it may have under way, then waits for them,
/// until all are made: for i below `calls.n()`, that of `calls.section(i)` on record `calls.id(i)`,
/// whose answer `calls.answered(i, answer)` gets. Sections are made for greater i as well.
/// `calls.from(first)` is the same calls without those before `first`.
template <class Ref, class Calls>
__device__ void call_all_by_block(warden::virtual_block const& at, Ref const& ref,
                                  Calls const& calls) {
  constexpr unsigned at_once = Ref::policy::calls_per_thread;
  warden::block_client<Ref> client{ref, at};
  auto const step = static_cast<std::uint32_t>(at.global_size());
  for (std::uint64_t first = std::uint64_t{at.block_index()} * at.block_dim(); first < calls.n();
       first += at_once * step) {
    Calls const left = calls.from(first);
    // All ids are loaded before the first is used: one wait for memory instead of one each.
    std::uint32_t id[at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const offset = k * step + at.thread_rank();
      id[k] = left.id(offset < left.n() ? offset : 0);
    }
    detail::call_each<0>(client, id, left, at.thread_rank(), step);
  }
}

}  // namespace bench
