// SPDX-License-Identifier: Apache-2.0
/// @file
/// The table without Warden: one lock per bucket, or atomics on buckets and values.
#pragma once

#include "apps/hash_table/operations.cuh"
#include "apps/hash_table/storage.cuh"

#include <warden/baseline.cuh>

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

namespace hash_table {

/// Bucket of the key of each section.
template <class Make, class Context>
struct bucket_of_section {
  Make make;
  Context context;
  __device__ std::uint32_t operator[](std::uint32_t i) const {
    return context.bucket_of(make(i).key);
  }
};

/// Returns the sections `make(0)` to `make(n - 1)` as work of the baselines.
template <class Table, class Make>
auto work_of(Table const& table, Make make, std::uint32_t n) {
  auto const context = table.device_context();
  using context_type = std::remove_const_t<decltype(context)>;
  using ids = bucket_of_section<Make, context_type>;
  using record = typename Table::bucket_type;
  return warden::baseline::work<record, Make, context_type, ids>{
      table.buckets(), ids{make, context}, n, make, context};
}

/// Table whose operations run under global locks, one per bucket, with tuned settings.
template <class Key, class Value, class Keys = integer_keys<Key>>
class locked_table
    : public storage<Key, Value, Keys>,
      public operations<locked_table<Key, Value, Keys>, Key, Value, sections<Key, Value, Keys>> {
  using base = storage<Key, Value, Keys>;

 public:
  /// Constructs an empty table. Throws as table's constructor.
  explicit locked_table(table_options o, Keys keys = {},
                        std::source_location where = std::source_location::current())
      : base{o, keys, where}, locks_{base::bucket_count()} {}

  void wait(warden::stream_ref s = {},
            std::source_location where = std::source_location::current()) {
    warden::error_list found;
    found.collect([&] { locks_.wait(s, where); });
    found.collect([&] { base::check_pool(s, where); });
    found.throw_all(where);
  }
  /// Chooses the settings of locks by measuring them on these sections, which changes the table.
  /// Blocks the host.
  template <class Make>
  void tune(Make make, std::uint32_t n, warden::stream_ref s = {}) {
    choice_ = warden::baseline::tune_locks(work_of(*this, make, n), locks_, s);
  }
  [[nodiscard]] std::string chosen() const { return to_string(choice_); }
  template <class Make>
  void run_async(Make make, std::uint32_t n, warden::located_stream s = {}) {
    warden::baseline::lock_tuned_async(work_of(*this, make, n), locks_, choice_, s.stream);
  }

 private:
  warden::baseline::lock_array locks_;
  warden::baseline::lock_choice choice_{};
};

/// Table whose operations use compare-and-swap on a slot's key and atomics on a value of one word.
/// It supports `insert`, and for integers `insert_or_assign`, `add` and `count`; other operations
/// do not compile. All operations of a call have one type.
template <class Key, class Value, class Keys = integer_keys<Key>>
class atomic_table
    : public storage<Key, Value, Keys>,
      public operations<atomic_table<Key, Value, Keys>, Key, Value, sections<Key, Value, Keys>> {
  using base = storage<Key, Value, Keys>;

 public:
  /// Constructs an empty table. Throws as table's constructor.
  explicit atomic_table(table_options o, Keys keys = {},
                        std::source_location where = std::source_location::current())
      : base{o, keys, where} {}

  void wait(warden::stream_ref s = {},
            std::source_location where = std::source_location::current()) {
    s.synchronize();
    base::check_pool(s, where);
  }
  template <class Make>
  void run_async(Make make, std::uint32_t n, warden::located_stream s = {}) {
    using section = decltype(make(0));
    static_assert(warden::has_atomic<section, typename base::bucket_type, typename base::context>,
                  "hash_table: this operation is no few atomics; use table or locked_table");
    warden::baseline::atomics_async(work_of(*this, make, n), s.stream);
  }
};

}  // namespace hash_table
