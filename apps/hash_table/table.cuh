// SPDX-License-Identifier: Apache-2.0
/// @file
/// A hash table with chained buckets on Warden: a bucket is a record, an operation a critical
/// section. No locks, and no limit to what an operation may do with its bucket.
#pragma once

#include "apps/hash_table/operations.cuh"
#include "apps/hash_table/storage.cuh"

#include <warden/guarded.cuh>
#include <warden/launch.cuh>

#include <cstdint>
#include <source_location>
#include <type_traits>

namespace hash_table {

/// The policy of a table's guarded. `Executor` is one that takes any section.
template <class Key, class Value, class Keys, class Executor = warden::default_policy::executor>
struct table_policy : warden::default_policy {
  static constexpr unsigned minimum_blocks_per_multiprocessor = 3;
  using context = table_context<Key, Value, Keys>;
  using executor = Executor;
};

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

/// Keys of any trivially copyable type that `Keys` can hash and compare, values of any; together
/// they travel in a message, 44 bytes at most. `counts` says in total what became of operations,
/// and `find_async` and `for_each_async` read the table after `wait`; with `Answers` kernels can
/// call operations as well as send them, and are told within the launch.
///
///     hash_table::table<std::uint64_t, point> t{{.capacity = 1'000'000}};
///     t.insert_async(keys, points, n);                      // arrays in device memory
///     warden::launch_fused(kernel, grid, block, {}, t.guarded());  // or from a kernel, see client
///     t.wait();
template <class Key, class Value, class Keys = integer_keys<Key>,
          class Policy = table_policy<Key, Value, Keys>, bool Answers = false>
class table : public storage<Key, Value, Keys>,
              public operations<table<Key, Value, Keys, Policy, Answers>, Key, Value,
                                sections<Key, Value, Keys, Answers>> {
  using base = storage<Key, Value, Keys>;

 public:
  /// What clients call: insert{key, value}, insert_or_assign{key, value}, add{key, amount},
  /// erase{key}, and, only called, find{key}.
  using section = sections<Key, Value, Keys, Answers>;

 private:
  template <class... More>
  using guarded_with =
      warden::basic_guarded<Policy, bucket, typename section::insert,
                            typename section::insert_or_assign, typename section::add,
                            typename section::erase, More...>;

 public:
  /// A table that answers nobody has no slots for answers.
  using guarded_type =
      std::conditional_t<Answers, guarded_with<typename section::find>, guarded_with<>>;
  using ref = typename guarded_type::ref;

  /// The table inside a kernel of one's own: a block client whose sends are operations. All of them
  /// are collective over the block, with `valid` false where a thread has nothing to do; `flush`
  /// before it goes out of scope. False only once the launch is poisoned.
  class client {
   public:
    __device__ client(ref const& table, warden::virtual_block const& at)
        : context_{table.sections_context}, client_{table, at} {}
    __device__ bool insert(Key const& key, Value const& value, bool valid = true) {
      return send(key, typename section::insert{key, value}, valid);
    }
    __device__ bool insert_or_assign(Key const& key, Value const& value, bool valid = true) {
      return send(key, typename section::insert_or_assign{key, value}, valid);
    }
    __device__ bool add(Key const& key, Value const& amount, bool valid = true) {
      static_assert(can_add<Value>, "hash_table: add needs values with +=");
      return send(key, typename section::add{key, amount}, valid);
    }
    __device__ bool erase(Key const& key, bool valid = true) {
      return send(key, typename section::erase{key}, valid);
    }
    /// The future of what the section returns: an `outcome`, or of find a `finding`. It comes once
    /// `flush` was called. See warden::block_client::call.
    template <class Section>
    __device__ auto call(Section const& s, bool valid = true) {
      static_assert(Answers,
                    "hash_table: the table's operations answer nobody; use answering_table");
      return client_.call(valid ? context_.bucket_of(s.key) : 0, s, valid);
    }
    __device__ bool flush() { return client_.flush(); }

   private:
    template <class Section>
    __device__ bool send(Key const& key, Section const& s, bool valid) {
      return client_.send(valid ? context_.bucket_of(key) : 0, s, valid);
    }
    table_context<Key, Value, Keys> const& context_;
    typename guarded_type::block_client client_;
  };

  /// The same for one thread in any control flow. See warden::thread_client.
  class thread_client {
   public:
    __device__ thread_client(ref const& table, warden::virtual_block const& at)
        : context_{table.sections_context}, client_{table, at} {}
    /// False only once the launch is poisoned.
    template <class Section>
    __device__ bool send(Section const& s) const {
      return client_.send(context_.bucket_of(s.key), s);
    }
    /// The future of what the section returns, as client's.
    template <class Section>
    __device__ auto call(Section const& s) const {
      static_assert(Answers,
                    "hash_table: the table's operations answer nobody; use answering_table");
      return client_.call(context_.bucket_of(s.key), s);
    }

   private:
    table_context<Key, Value, Keys> const& context_;
    typename guarded_type::thread_client client_;
  };

  /// Throws limit_error for an impossible size or plan, cuda_error when memory is short.
  explicit table(table_options o, Keys keys = {}, warden::guarded_options chosen = {},
                 std::source_location where = std::source_location::current())
      : base{o, keys, where},
        guarded_{base::buckets(), base::bucket_count(), base::device_context(), chosen, where} {}

  /// For launches of one's own kernels.
  [[nodiscard]] guarded_type& guarded() { return guarded_; }

  /// Blocks the host until every operation has run. Throws what went wrong: limit_error when the
  /// pool was full, timeout_error, cuda_error.
  void wait(warden::stream_ref s = {},
            std::source_location where = std::source_location::current()) {
    guarded_.wait(s, where);
    base::check_pool(s, where);
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

/// The table by an executor of one's choice.
template <class Executor, class Key, class Value, class Keys = integer_keys<Key>>
using table_by = table<Key, Value, Keys, table_policy<Key, Value, Keys, Executor>>;

/// The table whose operations kernels can call: messages of four bytes more, and slots for answers.
template <class Key, class Value, class Keys = integer_keys<Key>,
          class Policy = table_policy<Key, Value, Keys>>
using answering_table = table<Key, Value, Keys, Policy, true>;

}  // namespace hash_table
