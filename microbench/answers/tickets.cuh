// SPDX-License-Identifier: Apache-2.0
// Calls of the answers benchmark: a record hands out tickets, and callers store them.
#pragma once

#include "microbench/answers/oracle.hpp"
#include "microbench/support/block_caller.cuh"

#include <warden/fused.cuh>

#include <cstdint>

namespace answers {

struct take_ticket {
  static constexpr bool reads_other_memory = false;
  __device__ std::uint32_t operator()(std::uint32_t& next, warden::no_context) const {
    return next++;
  }
};

/// Kernel whose threads make `calls_per_thread` calls, wait for the answers, and repeat.
struct call_by_block {
  static constexpr char const* name = "block_client";
  calls all;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    bench::call_all_by_block(at, ref, *this);
  }
  [[nodiscard]] WARDEN_DEVICE call_by_block from(std::uint64_t first) const {
    return {{all.ids + first, all.tickets + first, all.n - static_cast<std::uint32_t>(first)}};
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t n() const { return all.n; }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t id(std::uint32_t i) const { return all.ids[i]; }
  [[nodiscard]] WARDEN_DEVICE take_ticket section(std::uint32_t) const { return {}; }
  template <class Answer>
  WARDEN_DEVICE void answered(std::uint32_t i, Answer const& ticket) const {
    all.tickets[i] = ticket.value_or(calls::no_ticket);
  }
};

/// Kernel whose threads make one call at a time: each call waits for the previous answer.
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

/// Kernel in which one thread of the launch makes one call at a time, and times each call.
template <class Clock>
struct call_alone {
  calls all;
  std::uint64_t* times;  ///< [call] time from just before the call to just after its answer

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
