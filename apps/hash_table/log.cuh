// SPDX-License-Identifier: Apache-2.0
/// @file
/// Log of a table's operations. Plain kernels fill it, and a run executes it, with the buckets of
/// one partition on chip at a time if they fit.
#pragma once

#include "apps/hash_table/operations.cuh"

#include <warden/deferred.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>
#include <variant>

namespace hash_table {

/// Default policy of a table. With the executor `automatic`, sections that are alone in their log
/// and can run as atomics do. All others run by `sorted`, with windows that leave most of the chip
/// to the buckets. Atomics, and sections on large values, use blocks of twice as many threads.
using table_policy =
    warden::policy<warden::options{.tuning = {.apply_bytes = std::size_t{1} << 30}}>;

namespace detail {

/// Executor of a log.
template <class Policy, class Record, class Context, class... Sections>
struct log_executor {
  static constexpr bool by_atomics = sizeof...(Sections) == 1 && !Policy::order::in_order &&
                                     (warden::has_atomic<Sections, Record, Context> && ...);
  static constexpr bool is_automatic =
      std::is_same_v<typename Policy::executor, warden::executor::automatic>;
  using type = std::conditional_t<
      !is_automatic, typename Policy::executor,
      std::conditional_t<by_atomics, warden::executor::atomics<32>, warden::executor::sorted<64>>>;
  /// An atomic needs few registers, and waits for the memory at its key; a section on a large value
  /// waits for all of the value. (In order, the ranks of that many threads would take the chip.)
  static constexpr bool waits = by_atomics || (Record::large_values && !Policy::order::in_order);
  static constexpr unsigned block_threads =
      is_automatic && waits ? 2 * Policy::block_threads : Policy::block_threads;
};

/// Policy of a log's guarded array.
template <class Policy, class Record, class Context, warden::placement Where, class... Sections>
using log_policy = warden::with_values<
    warden::with_parts<Policy, warden::context<Context>,
                       typename log_executor<Policy, Record, Context, Sections...>::type>,
    &warden::options::records, Where, &warden::options::block_threads,
    log_executor<Policy, Record, Context, Sections...>::block_threads>;

/// True if a log combines sections of one key.
template <class Policy, class Record, class Context, class... Sections>
inline constexpr bool log_combines = warden::deferred_ref<
    log_policy<Policy, Record, Context, warden::placement::in_memory, Sections...>, Record,
    Sections...>::combines;

}  // namespace detail

/// Ref that defers operations. Passed to kernels by value.
template <class Inner, class Key, class Value, class Keys>
class operations_ref : public operations_in_kernel<operations_ref<Inner, Key, Value, Keys>, Key,
                                                   Value, sections<Key, Value, Keys>> {
 public:
  using inner_type = Inner;
  using key_type = Key;
  using value_type = Value;
  using section = sections<Key, Value, Keys>;

  operations_ref() = default;
  operations_ref(Inner const& inner, table_context<Key, Value, Keys> const& context)
      : inner_{inner}, keys_{context.keys}, buckets_{context.buckets} {}

  /// Defers an operation. Any thread, in any control flow. Returns false if the log is full, which
  /// `wait` reports.
  template <class Section>
  __device__ bool send(Section const& s) const {
    return inner_.send(bucket_of(s.key), s);
  }
  /// Returns the bucket of a key.
  __device__ std::uint32_t bucket_of(Key const& key) const {
    return static_cast<std::uint32_t>(
        simt::multiply_high(keys_.hash(key), std::uint64_t{buckets_}));
  }
  __device__ Inner const& inner() const { return inner_; }

 private:
  Inner inner_;
  Keys keys_;
  std::uint32_t buckets_;
};

/// Client of a whole one-dimensional block of `Threads` threads. Constructed like
/// warden::deferred_block.
template <class Ref, unsigned Threads, std::size_t Bytes = warden::static_storage_bytes>
class operations_block
    : public operations_in_kernel<operations_block<Ref, Threads, Bytes>, typename Ref::key_type,
                                  typename Ref::value_type, typename Ref::section> {
  using inner = warden::deferred_block<typename Ref::inner_type, Threads, Bytes>;

 public:
  /// The block's shared memory.
  using storage = typename inner::storage;
  /// Number of a thread's operations in one batch.
  static constexpr unsigned per_thread = inner::per_thread;

  /// Collective. `ref` and `memory` outlive the client.
  __device__ operations_block(Ref const& ref, storage& memory)
      : ref_{ref}, client_{ref.inner(), memory} {}
  /// Defers an operation per thread with `valid`. Collective.
  template <class Section>
  __device__ void send(Section const& s, bool valid = true) const {
    client_.send(valid ? ref_.bucket_of(s.key) : 0, s, valid);
  }
  /// Writes everything sent so far to the log. Returns the number of operations that found no
  /// place. Collective.
  __device__ std::uint32_t flush() { return client_.flush(); }

 private:
  Ref const& ref_;
  /// Mutable, because operations are const for all clients.
  mutable inner client_;
};

/// Log of operations of the given types on one table, which outlives it. Movable, not copyable.
///
///     hash_table::operation_log<scores, withdraw> later{table, n};  // at most n operations
///     kernel<<<blocks, 256, 0, s>>>(later.ref(), n);                // sends withdraw{key, 5}
///     later.run(s);                                                 // each runs exactly once
///     later.wait(s);                                                // throws the error
template <class Table, class... Sections>
class operation_log {
  using key = typename Table::key_type;
  using value = typename Table::value_type;
  using keys = typename Table::keys_type;
  using record = bucket<key, value>;
  using context = table_context<key, value, keys>;
  static_assert(
      !detail::log_combines<typename Table::policy, record, context, Sections...> ||
          (warden::has_combine_key<Sections> && ...),
      "hash_table: a bucket has many keys: let a section with combine have a combine_key(), or say "
      "combines = false");

  template <warden::placement Where>
  struct log_of {
    using policy = detail::log_policy<typename Table::policy, record, context, Where, Sections...>;
    using log_type = warden::deferred<policy, record, Sections...>;
    warden::basic_guarded<policy, record, Sections...> guarded;
    log_type log;

    log_of(Table const& table, std::size_t n, warden::deferred_options chosen,
           std::source_location where)
        : guarded{table.buckets(), table.bucket_count(), table.device_context(), {}, where},
          log{guarded, n, chosen, where} {}
  };
  using on_chip = log_of<warden::placement::on_chip>;
  using in_memory = log_of<warden::placement::in_memory>;
  using inner_ref = typename in_memory::log_type::ref_type;

 public:
  /// Type of the ref for kernels.
  using ref_type = operations_ref<inner_ref, key, value, keys>;

  /// Constructs a log for at most `n` operations. Throws as warden::deferred.
  operation_log(Table const& table, std::size_t n, warden::deferred_options chosen = {},
                std::source_location where = std::source_location::current())
      : context_{table.device_context()}, log_{make(table, n, chosen, where)} {}

  /// Returns the ref for kernels that send, as warden::deferred::ref does.
  [[nodiscard]] ref_type ref() {
    return std::visit(
        [&](auto& l) {
          // One type for both placements of records, because senders do not depend on it.
          auto const from = l.log.ref();
          inner_ref to;
          to.log = from.log;
          to.size = from.size;
          to.report = from.report;
          return ref_type{to, context_};
        },
        log_);
  }
  /// Enqueues the run of all operations accepted so far. Throws cuda_error.
  void run(warden::stream_ref s = {},
           std::source_location where = std::source_location::current()) {
    std::visit([&](auto& l) { l.log.run(s, where); }, log_);
  }
  /// Blocks the host until the enqueued runs are done. Throws their error. The table's `wait`
  /// reports refused keys.
  void wait(warden::stream_ref s = {},
            std::source_location where = std::source_location::current()) {
    std::visit([&](auto& l) { l.guarded.wait(s, where); }, log_);
  }
  /// Returns true if a log with these arguments brings partitions of the table on chip.
  [[nodiscard]] static bool runs_on_chip(Table const& table, std::size_t n,
                                         warden::deferred_options chosen = {}) {
    if (chosen.partitions == 0) chosen.partitions = partitions_of(table.bucket_count());
    return fits_chip(table.bucket_count(), n, chosen);
  }
  /// Returns the largest number of operations.
  [[nodiscard]] std::size_t capacity() const {
    return std::visit([](auto const& l) { return l.log.capacity(); }, log_);
  }
  /// Returns true if runs bring partitions of the table on chip.
  [[nodiscard]] bool is_on_chip() const { return std::holds_alternative<on_chip>(log_); }
  /// Returns the device memory in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return std::visit([](auto const& l) { return l.log.memory_bytes(); }, log_);
  }

 private:
  using either = std::variant<on_chip, in_memory>;
  /// Returns the number of partitions of a log; 0 for the default number. A small table has two per
  /// multiprocessor: blocks that are done take the next one, so that all end at about the same
  /// time.
  static unsigned partitions_of(std::uint32_t buckets) {
    auto const facts = warden::runtime::facts(warden::runtime::current_device());
    auto const blocks = std::bit_floor(static_cast<unsigned>(facts.multiprocessors));
    return buckets < 128 * blocks ? std::min(2 * blocks, 512u) : 0;
  }
  static either make(Table const& table, std::size_t n, warden::deferred_options chosen,
                     std::source_location where) {
    if (chosen.partitions == 0) chosen.partitions = partitions_of(table.bucket_count());
    if (fits_chip(table.bucket_count(), n, chosen))
      return either{std::in_place_type<on_chip>, table, n, chosen, where};
    // A split does not help atomics in memory, because they do not wait for each other.
    using executor = detail::log_executor<typename Table::policy, record, context, Sections...>;
    if (executor::by_atomics && chosen.split == 0) chosen.split = 1;
    return either{std::in_place_type<in_memory>, table, n, chosen, where};
  }
  /// Returns true if partitions of the table fit the chip and copying them there pays.
  static bool fits_chip(std::uint32_t buckets, std::size_t n, warden::deferred_options chosen) {
    using log_type = typename on_chip::log_type;
    // A split costs a pass over the log, and partitions on chip cost one over the table; an
    // operation in memory costs the part of the bucket that it touches. Both are worth it for a few
    // operations per bucket.
    return log_type::fits(buckets, {.partitions = chosen.partitions, .split = 1}) ||
           (n / 4 >= buckets && log_type::fits(buckets, chosen));
  }

  context context_;
  either log_;
};

}  // namespace hash_table
