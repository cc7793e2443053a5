// SPDX-License-Identifier: Apache-2.0
/// @file
/// Hash table whose operations kernels can call, with results within the launch. Servers run
/// concurrently with the kernel.
#pragma once

#include "apps/hash_table/operations.cuh"
#include "apps/hash_table/storage.cuh"

#include <warden/fused.cuh>

#include <algorithm>
#include <cstdint>
#include <source_location>

namespace hash_table {

/// Policy of an answering table's guarded array. `Executor` must accept any section.
template <class Key, class Value, class Keys, class Executor = warden::executor::automatic>
using answering_policy =
    warden::policy<warden::options{.tuning = {.minimum_blocks_per_multiprocessor = 3}},
                   warden::context<table_context<Key, Value, Keys>>, Executor>;

namespace detail {

/// Sends the sections `make(0)` to `make(n - 1)` to the buckets of their keys.
template <class Make>
struct run_kernel {
  Make make;
  std::uint32_t n;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& table) const {
    warden::block_client<Ref> client{table, at};
    for (std::uint64_t first = std::uint64_t{at.block_index()} * at.block_dim(); first < n;
         first += at.global_size()) {
      std::uint64_t const i = first + at.thread_rank();
      bool const valid = i < n;
      auto const s = make(static_cast<std::uint32_t>(valid ? i : n - 1));
      client.send(table.sections_context.bucket_of(s.key), s, valid);
    }
    client.flush();
  }
};

}  // namespace detail

/// A table in fused launches: kernels call its operations as well as send them.
///
///     hash_table::answering_table<std::uint64_t, point> t{{.capacity = 1'000'000}};
///     warden::launch_fused(kernel, grid, block, {}, t.guarded());
///     t.wait();
template <class Key, class Value, class Keys = integer_keys<Key>,
          class Policy = answering_policy<Key, Value, Keys>>
class answering_table : public storage<Key, Value, Keys>,
                        public operations<answering_table<Key, Value, Keys, Policy>, Key, Value,
                                          sections<Key, Value, Keys, true>> {
  using base = storage<Key, Value, Keys>;

 public:
  /// Operations that clients call: insert{key, value}, insert_or_assign{key, value}, add{key,
  /// amount}, count{key}, erase{key}, and find{key}.
  using section = sections<Key, Value, Keys, true>;
  using guarded_type = warden::basic_guarded<Policy, bucket<Key, Value>, typename section::insert,
                                             typename section::insert_or_assign,
                                             typename section::add, typename section::count,
                                             typename section::erase, typename section::find>;
  using ref = typename guarded_type::ref;

  /// The table in a user's kernel: a block client that sends operations. All operations are
  /// collective over the block, with `valid` false for threads without an operation. They return
  /// false only if the launch is poisoned. Call `flush` before the client goes out of scope.
  class client : public operations_in_kernel<client, Key, Value, section> {
   public:
    __device__ client(ref const& table, warden::virtual_block const& at)
        : context_{table.sections_context}, client_{table, at} {}
    template <class Section>
    __device__ bool send(Section const& s, bool valid = true) const {
      return client_.send(valid ? context_.bucket_of(s.key) : 0, s, valid);
    }
    /// Calls a section. Returns the future of its answer: an `outcome`, or a `finding` for `find`.
    /// The answer arrives after `flush`. See warden::block_client::call.
    template <class Section>
    __device__ auto call(Section const& s, bool valid = true) {
      return client_.call(valid ? context_.bucket_of(s.key) : 0, s, valid);
    }
    __device__ bool flush() { return client_.flush(); }

   private:
    table_context<Key, Value, Keys> const& context_;
    /// Mutable, because operations are const for all clients.
    mutable typename guarded_type::block_client client_;
  };

  /// The table for one thread in any control flow. See warden::thread_client.
  class thread_client : public operations_in_kernel<thread_client, Key, Value, section> {
   public:
    __device__ thread_client(ref const& table, warden::virtual_block const& at)
        : context_{table.sections_context}, client_{table, at} {}
    /// Sends a section. Returns false only if the launch is poisoned.
    template <class Section>
    __device__ bool send(Section const& s) const {
      return client_.send(context_.bucket_of(s.key), s);
    }
    /// Calls a section. Returns the future of its answer, as `client::call`.
    template <class Section>
    __device__ auto call(Section const& s) const {
      return client_.call(context_.bucket_of(s.key), s);
    }

   private:
    table_context<Key, Value, Keys> const& context_;
    typename guarded_type::thread_client client_;
  };

  /// Throws limit_error for an impossible size or plan, cuda_error when memory is short.
  explicit answering_table(table_options o, Keys keys = {}, warden::guarded_options chosen = {},
                           std::source_location where = std::source_location::current())
      : base{o, keys, where},
        guarded_{base::buckets(), base::bucket_count(), base::device_context(), chosen, where} {
    warden::prepare_fused(guarded_);
  }

  /// The guarded array, for launches of one's own kernels.
  [[nodiscard]] guarded_type& guarded() { return guarded_; }

  /// Blocks the host until every operation has run. Throws what went wrong: limit_error when keys
  /// were refused, timeout_error, cuda_error.
  void wait(warden::stream_ref s = {},
            std::source_location where = std::source_location::current()) {
    warden::error_list found;
    found.collect([&] { guarded_.wait(s, where); });
    found.collect([&] { base::check_pool(s, where); });
    found.throw_all(where);
  }

  /// Runs the sections `make(0)` to `make(n - 1)`, each with a member `key`. Enqueued.
  template <class Make>
  void run_async(Make make, std::uint32_t n, warden::located_stream s = {}) {
    constexpr unsigned threads = Policy::block_threads;
    auto const grid = std::min(n / threads + 1, apps::blocks() * 8);
    warden::launch_fused(detail::run_kernel<Make>{make, n}, grid, threads, s, guarded_);
  }

 private:
  guarded_type guarded_;
};

}  // namespace hash_table
