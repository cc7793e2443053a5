// SPDX-License-Identifier: Apache-2.0
// Calls by block clients, with record ids from memory.
#pragma once

#include <warden/fused.cuh>

#include <cstdint>

namespace bench {

namespace detail {
/// Makes call `K` and all later calls, flushes, and waits for their answers. Recursive, so that
/// each future is a variable: an array of futures would be in local memory.
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

/// Calls section `calls.section(i)` on record `calls.id(i)` for every i < `calls.n()`, and passes
/// the answer to `calls.answered(i, answer)`. Every thread of the launch makes `calls_per_thread`
/// calls, waits for their answers, and repeats. `calls.section(i)` must accept i >= `calls.n()`.
/// `calls.from(first)` returns the calls from `first` on.
template <class Ref, class Calls>
__device__ void call_all_by_block(warden::virtual_block const& at, Ref const& ref,
                                  Calls const& calls) {
  constexpr unsigned at_once = Ref::policy::calls_per_thread;
  warden::block_client<Ref> client{ref, at};
  auto const step = static_cast<std::uint32_t>(at.global_size());
  for (std::uint64_t first = std::uint64_t{at.block_index()} * at.block_dim(); first < calls.n();
       first += at_once * step) {
    Calls const left = calls.from(first);
    // Loads all ids before the first use: one wait for memory instead of one for each id.
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
