// SPDX-License-Identifier: Apache-2.0
/// @file
/// A hash table on Warden: a bucket of one cache line is a record, an operation a deferred critical
/// section. No locks, and no limit to what an operation may do with its bucket.
#pragma once

#include "apps/hash_table/log.cuh"
#include "apps/hash_table/send.cuh"
#include "apps/hash_table/storage.cuh"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <type_traits>
#include <typeindex>
#include <vector>

namespace hash_table {

/// A hash table whose operations are deferred. Keys are of any trivially copyable type that `Keys`
/// can hash and compare, values of any; what an operation takes along travels in a message, key
/// included 44 bytes at most. `counts` says in total what became of operations, and `find_async`
/// and `for_each_async` read the table after `wait`.
///
///     hash_table::table<std::uint64_t, point> t{{.capacity = 1'000'000}};
///     t.insert_async(keys, points, n);        // arrays in device memory
///     kernel<<<blocks, 256>>>(t.ref(n));      // or from a kernel: insert(key, point) and so on
///     t.run();
///     t.wait();
template <class Key, class Value, class Keys = integer_keys<Key>, class Policy = table_policy>
class table
    : public storage<Key, Value, Keys>,
      public operations<table<Key, Value, Keys, Policy>, Key, Value, sections<Key, Value, Keys>> {
  using base = storage<Key, Value, Keys>;

 public:
  using policy = Policy;
  using key_type = Key;
  using value_type = Value;
  using keys_type = Keys;
  /// Operations that clients send: insert{key, value}, insert_or_assign{key, value}, add{key,
  /// amount}, erase{key}.
  using section = sections<Key, Value, Keys>;
  /// The log of those.
  using log_type =
      operation_log<table, typename section::insert, typename section::insert_or_assign,
                    typename section::add, typename section::erase>;
  /// The type that kernels get: insert(key, value) and so on, by any thread.
  using ref_type = typename log_type::ref_type;
  /// The client of blocks of `Threads` threads, at full speed.
  template <unsigned Threads>
  using block = operations_block<ref_type, Threads>;

  /// Throws limit_error for an impossible size, cuda_error when memory is short.
  explicit table(table_options o, Keys keys = {},
                 std::source_location where = std::source_location::current())
      : base{o, keys, where} {}

  /// Returns the ref for kernels that send at most `n` operations until the next `run`. The first
  /// call, and one with a larger n than any before, allocates. All refs stay valid. Throws as
  /// warden::deferred does.
  [[nodiscard]] ref_type ref(std::size_t n,
                             std::source_location where = std::source_location::current()) {
    if (given_.empty() || given_.back()->capacity() < n)
      given_.push_back(&log_for<log_type>(n, where));
    return given_.back()->ref();
  }
  /// Enqueues the execution of all that such kernels have sent by then.
  void run(warden::stream_ref s = {},
           std::source_location where = std::source_location::current()) {
    for (log_type* const log : given_) log->run(s, where);
  }

  /// Blocks the host until every operation has run. Throws what went wrong: limit_error when there
  /// was no room for keys or operations, cuda_error.
  void wait(warden::stream_ref s = {},
            std::source_location where = std::source_location::current()) {
    s.synchronize(where);
    warden::error_list found;
    for (kept const& k : kept_) found.collect([&] { k.wait(s, where); });
    found.collect([&] { base::check_pool(s, where); });
    found.throw_all(where);
  }

  /// Runs the sections `make(0)` to `make(n - 1)`, each with a member `key`; any type of section on
  /// a bucket. Enqueued, as many at a time as the policy's `apply_bytes` hold. The first call with
  /// a type, and one with a larger n than any before, allocates. After an exception some sections
  /// may have run, and others may run with the next call: calling again could double them.
  template <class Make>
  void run_async(Make make, std::uint32_t n, warden::located_stream s = {}) {
    using section_type = std::remove_cvref_t<decltype(make(0u))>;
    if (n == 0) return;
    if constexpr (combines_wider<section_type>) {
      if (sends_partials<section_type>(n)) {
        run_async(detail::partials<Make>{make}, n, s);
        return;
      }
    }
    auto& to = log_of<section_type>(n, s.where);
    for (std::uint32_t first = 0; first < n;) {
      auto const count =
          static_cast<std::uint32_t>(std::min<std::size_t>(n - first, to.capacity()));
      detail::send_async<Policy>(to.ref(), make, first, count, s);
      to.run(s.stream, s.where);
      first += count;
    }
  }

  /// Makes the memory for such a call with `n` sections of one type, so that it only enqueues.
  template <class Section>
  void reserve(std::uint32_t n, std::source_location where = std::source_location::current()) {
    if constexpr (combines_wider<Section>) {
      if (sends_partials<Section>(n)) {
        reserve<warden::partial_of<Section>>(n, where);
        return;
      }
    }
    static_cast<void>(log_of<Section>(n, where));
  }
  /// True if such a call sends each section as its partial: a log of sections that combine to
  /// wider partials cannot be split, and would run in memory where one of partials runs on chip.
  template <class Section>
  [[nodiscard]] bool sends_partials(std::uint32_t n) const {
    using partial = warden::partial_of<Section>;
    return combines_wider<Section> && !runs_on_chip<Section>(n) && runs_on_chip<partial>(n);
  }

  /// Device memory, logs included, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    std::size_t sum = base::memory_bytes();
    for (kept const& k : kept_) sum += k.bytes;
    return sum;
  }

 private:
  /// A log of any type of section. It stays when a larger one replaces it: its enqueued work runs.
  struct kept {
    std::type_index type;
    std::shared_ptr<void> log;
    std::size_t capacity, bytes;
    std::function<void(warden::stream_ref, std::source_location)> wait;
  };

  template <class Section>
  static constexpr bool combines_wider =
      detail::log_combines<Policy, bucket<Key, Value>, table_context<Key, Value, Keys>, Section> &&
      !std::is_same_v<warden::partial_of<Section>, Section>;

  /// The log of calls with one type of section.
  template <class Section>
  auto& log_of(std::uint32_t n, std::source_location where) {
    using log = operation_log<table, Section>;
    return log_for<log>(sent_at_once<log>(n), where);
  }
  /// Number of a call's `n` operations that are sent at once.
  template <class Log>
  static std::size_t sent_at_once(std::uint32_t n) {
    return std::min<std::size_t>(n, detail::most_sent<Policy, typename Log::ref_type>);
  }
  /// Operations that a log for `n` of them holds.
  static std::size_t capacity_for(std::size_t n) {
    return std::bit_ceil(std::max<std::size_t>(n, 4096));
  }
  template <class Section>
  bool runs_on_chip(std::uint32_t n) const {
    using log = operation_log<table, Section>;
    return log::runs_on_chip(*this, capacity_for(sent_at_once<log>(n)), log_options());
  }
  warden::deferred_options log_options() const { return {.partitions = base::partitions()}; }
  /// A log of that type with room for `n` operations.
  template <class Log>
  Log& log_for(std::size_t n, std::source_location where) {
    for (kept const& k : kept_) {
      if (k.type == typeid(Log) && k.capacity >= n) return *static_cast<Log*>(k.log.get());
    }
    auto const made = std::make_shared<Log>(*this, capacity_for(n), log_options(), where);
    kept_.push_back({typeid(Log), made, made->capacity(), made->memory_bytes(),
                     [made](warden::stream_ref s, std::source_location at) { made->wait(s, at); }});
    return *made;
  }

  std::vector<kept> kept_;
  std::vector<log_type*> given_;  ///< those of `ref`, each larger than the ones before
};

/// The table by an executor of one's choice, one that takes all its sections.
template <class Executor, class Policy = table_policy>
using policy_by = warden::with_parts<Policy, Executor>;
template <class Executor, class Key, class Value, class Keys = integer_keys<Key>>
using table_by = table<Key, Value, Keys, policy_by<Executor>>;

}  // namespace hash_table
