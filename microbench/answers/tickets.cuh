// SPDX-License-Identifier: Apache-2.0
// What the answers benchmark calls: a record hands out tickets, and callers note theirs.
#pragma once

#include "microbench/answers/oracle.hpp"

#include <warden/guarded.cuh>

#include <cstdint>

namespace answers {

struct take_ticket {
  static constexpr bool reads_other_memory = false;
  __device__ std::uint32_t operator()(std::uint32_t& next, warden::no_context) const {
    return next++;
  }
};

/// A kernel: every thread makes as many calls as it may have under way, then waits for them.
struct call_by_block {
  static constexpr char const* name = "block_client";
  calls all;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    constexpr unsigned at_once = Ref::policy::calls_per_thread;
    warden::block_client<Ref> client{ref, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    for (std::uint64_t first = std::uint64_t{at.block_index()} * at.block_dim(); first < all.n;
         first += at_once * step) {
      std::uint64_t const left = all.n - first;
      // All ids are loaded before the first is used: one wait for memory instead of one each.
      std::uint32_t id[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint32_t const offset = k * step + at.thread_rank();
        id[k] = all.ids[first + (offset < left ? offset : 0)];
      }
      call_each<0>(client, id, all.tickets + first, at.thread_rank(), step, left);
    }
  }

 private:
  /// Calls `K` and those after it, flushes, and waits for their answers. Recursive: each future has
  /// a name, where an array of them would lie in local memory.
  template <unsigned K, class Client, unsigned AtOnce>
  __device__ static void call_each(Client& client, std::uint32_t const (&id)[AtOnce],
                                   std::uint32_t* tickets, std::uint32_t offset, std::uint32_t step,
                                   std::uint64_t left) {
    if constexpr (K == AtOnce) {
      client.flush();
    } else {
      bool const valid = offset < left;
      auto ticket = client.call(id[K], take_ticket{}, valid);
      call_each<K + 1>(client, id, tickets, offset + step, step, left);
      if (valid) tickets[offset] = ticket.get().value_or(calls::no_ticket);
    }
  }
};

/// A kernel: every thread makes one call after another, each when it has the answer to the one
/// before.
struct call_by_thread {
  static constexpr char const* name = "thread_client";
  calls all;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::thread_client<Ref> const client{ref, at};
    for (std::uint64_t i = at.global_rank(); i < all.n; i += at.global_size())
      all.tickets[i] = client.call(all.ids[i], take_ticket{}).get().value_or(calls::no_ticket);
  }
};

/// A kernel: the same by one thread of the launch, timed.
template <class Clock>
struct call_alone {
  calls all;
  std::uint64_t* times;  ///< [call] from just before it to just behind its answer

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    if (at.global_rank() != 0) return;
    warden::thread_client<Ref> const client{ref, at};
    for (std::uint32_t i = 0; i < all.n; ++i) {
      std::uint32_t const id = all.ids[i];
      std::uint64_t const before = Clock::now();
      auto const ticket = client.call(id, take_ticket{}).get();
      times[i] = Clock::now() - before;
      all.tickets[i] = ticket.value_or(calls::no_ticket);
    }
  }
};

}  // namespace answers
