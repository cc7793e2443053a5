// SPDX-License-Identifier: Apache-2.0
// What the answers benchmark calls: a record hands out tickets, and callers note theirs.
#pragma once

#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/guarded.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace answers {

namespace simt = warden::simt;

struct take_ticket {
  static constexpr bool reads_other_memory = false;
  __device__ std::uint32_t operator()(std::uint32_t& next, warden::no_context) const {
    return next++;
  }
};

/// The calls of a run: call i asks record `ids[i]` for `tickets[i]`.
struct calls {
  /// Of a call without an answer.
  static constexpr std::uint32_t no_ticket = ~0u;
  std::uint32_t const* ids;
  std::uint32_t* tickets;
  std::uint32_t n;
};

/// A kernel: every thread makes as many calls as it may have under way, then waits for them.
struct call_by_block {
  static constexpr char const* name = "block_client";
  calls all;

  template <class Ref>
  __device__ void operator()(warden::client_block const& at, Ref const& ref) const {
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
      warden::future<Ref, std::uint32_t> tickets[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        tickets[k] = client.call(id[k], take_ticket{}, k * step + at.thread_rank() < left);
      client.flush();
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint32_t const offset = k * step + at.thread_rank();
        if (offset < left)
          all.tickets[first + offset] = tickets[k].get().value_or(calls::no_ticket);
      }
    }
  }
};

/// A kernel: every thread makes one call after another, each when it has the answer to the one
/// before.
struct call_by_thread {
  static constexpr char const* name = "thread_client";
  calls all;

  template <class Ref>
  __device__ void operator()(warden::client_block const& at, Ref const& ref) const {
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
  __device__ void operator()(warden::client_block const& at, Ref const& ref) const {
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

/// Device memory of `ticket_oracle`, and what it looks at.
struct oracle_arguments {
  calls all;
  std::uint32_t const* records;  ///< [key] the next ticket
  std::uint32_t keys;
  std::uint32_t* asked;  ///< [key] calls
  std::uint32_t* begin;  ///< [key] calls of the keys before
  std::uint32_t* marks;  ///< [begin + ticket] how often it was handed out
  std::uint32_t* wrong;
};
WARDEN_KERNEL void count_calls(oracle_arguments a) {
  bench::for_each_of(a.all.n,
                     [&](std::uint64_t i) { simt::fetch_add(&a.asked[a.all.ids[i]], 1u); });
}
WARDEN_KERNEL void check_tickets(oracle_arguments a) {
  bench::for_each_of(a.all.n, [&](std::uint64_t i) {
    std::uint32_t const key = a.all.ids[i], ticket = a.all.tickets[i];
    bool const good =
        ticket < a.asked[key] && simt::fetch_add(&a.marks[a.begin[key] + ticket], 1u) == 0;
    if (!good) simt::fetch_add(a.wrong, 1u);
  });
  bench::for_each_of(a.keys, [&](std::uint64_t key) {
    if (a.records[key] != a.asked[key]) simt::fetch_add(a.wrong, 1u);
  });
}

/// Whether each record handed out the tickets 0, 1, 2 and so on once each, one a call.
class ticket_oracle {
 public:
  ticket_oracle(std::uint32_t keys, std::uint32_t most)
      : asked_{keys}, begin_{keys}, marks_{most}, wrong_{1} {}

  /// What is wrong with that many calls or records.
  std::uint32_t wrong(calls const& all, warden::buffer<std::uint32_t> const& records) {
    asked_.fill_bytes(0);
    marks_.fill_bytes(0);
    wrong_.fill_bytes(0);
    oracle_arguments const a{
        all,           records.data(), static_cast<std::uint32_t>(records.size()),
        asked_.data(), begin_.data(),  marks_.data(),
        wrong_.data()};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&count_calls, blocks, threads, 0, a, {});
    std::vector<std::uint32_t> begin = asked_.to_host();
    std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), 0u);
    warden::copy(begin_.data(), begin.data(), begin.size());
    simt::launch(&check_tickets, blocks, threads, 0, a, {});
    return wrong_.to_host()[0];
  }

 private:
  warden::buffer<std::uint32_t> asked_, begin_, marks_, wrong_;
};

}  // namespace answers
