// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device memory of a table, and operations that need no exclusion: finding, visiting, totals.
/// Reading global memory is valid only after `wait`, when no operation runs.
#pragma once

#include "apps/hash_table/context.cuh"
#include "apps/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

namespace hash_table {

/// Size of a table.
struct table_options {
  /// 1 to 2^32 - 2. 0: with slots for twice the keys, or eight times if they are 8,192 or fewer.
  std::uint32_t buckets = 0;
  std::uint32_t capacity = 0;  ///< expected number of keys; 1 to 2^31
  /// Nodes for keys whose bucket is full, 1 to 2^31. 0: as many as there are keys if the slots are
  /// less than twice the keys, and otherwise a fourth of that, which an even hash never needs.
  std::uint32_t overflow = 0;
  /// Partitions of deferred operations' runs: see warden::deferred_options. 0: the default.
  unsigned partitions = 0;
};

/// View of the table for kernels that read it while no operation runs.
template <class Key, class Value, class Keys>
struct table_view {
  bucket<Key, Value>* buckets;
  table_context<Key, Value, Keys> context;

  /// Returns the value of a key; null if the key is not there.
  __device__ Value const* find(Key const& key) const {
    return context.find(buckets[context.bucket_of(key)], key);
  }
};

namespace detail {

template <class View, class Key, class Value>
struct find_arguments {
  View view;
  Key const* keys;
  std::uint32_t n;
  Value* values;
  bool* found;
};
template <class View, class Key, class Value>
WARDEN_KERNEL void find_kernel(find_arguments<View, Key, Value> a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t i) {
    Value const* const value = a.view.find(a.keys[i]);
    a.found[i] = value != nullptr;
    if (value != nullptr) a.values[i] = *value;
  });
}

template <class Stripe>
struct forget_arguments {
  Stripe* counted;
  std::uint64_t* refused_before;
};
/// Zeroes the totals. The number of refused keys is kept, so that `wait` still reports them.
template <class Stripe>
WARDEN_KERNEL void forget_totals(forget_arguments<Stripe> a) {
  apps::for_my_share(stripes, [&](std::uint64_t i) {
    std::uint64_t const refused = a.counted[i].counts.refused;
    if (refused != 0) simt::fetch_add(a.refused_before, refused);
    a.counted[i] = {};
  });
}

template <class View, class F>
struct visit_arguments {
  View view;
  F f;
};
template <class View, class F>
WARDEN_KERNEL void visit_kernel(visit_arguments<View, F> a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.view.context.buckets,
                     [&](std::uint64_t b) { a.view.context.for_each(a.view.buckets[b], a.f); });
}

}  // namespace detail

/// Memory of a table's operations, in addition to its buckets: overflow nodes, pool and totals, on
/// the device current at construction.
template <class Key, class Value, class Keys>
class overflow_memory {
 public:
  using context = table_context<Key, Value, Keys>;

  /// Allocates `overflow` nodes.
  overflow_memory(std::uint32_t overflow, Keys keys)
      : overflow_{overflow},
        keys_{keys},
        nodes_{overflow},
        below_{overflow},
        pool_{1},
        counted_{stripes},
        refused_before_{1} {
    counted_.fill_bytes(0);
    refused_before_.fill_bytes(0);
  }

  /// Gives all nodes back and forgets the totals; enqueued.
  void clear_async(warden::stream_ref s) {
    pool_.fill_bytes(0, s);
    simt::launch(&detail::forget_totals<totals_stripe>, apps::blocks(), apps::threads(), 0,
                 {counted_.data(), refused_before_.data()}, s);
  }
  /// Returns the context of a table with that many buckets.
  [[nodiscard]] context device_context(std::uint32_t buckets) const {
    return {nodes_.data(), pool_ref{pool_.data(), below_.data(), overflow_},
            outcome_counter{counted_.data()}, keys_, buckets};
  }
  /// Device memory, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return nodes_.bytes() + below_.bytes() + pool_.bytes() + counted_.bytes() +
           refused_before_.bytes();
  }
  /// Outcomes of the operations since construction or `clear_async`; blocks the host.
  [[nodiscard]] totals counts(warden::stream_ref s = {}) const {
    totals sum{};
    for (totals_stripe const& stripe : counted_.to_host(s)) {
      sum.inserted += stripe.counts.inserted;
      sum.updated += stripe.counts.updated;
      sum.present += stripe.counts.present;
      sum.erased += stripe.counts.erased;
      sum.absent += stripe.counts.absent;
      sum.refused += stripe.counts.refused;
    }
    return sum;
  }
  /// Throws limit_error if keys were refused since the last call.
  void check_pool(warden::stream_ref s, std::source_location where) {
    std::uint64_t const refused = refused_before_.to_host(s)[0] + counts(s).refused;
    std::uint64_t const more = refused - reported_;
    reported_ = refused;
    if (more == 0) return;
    throw warden::limit_error{"hash_table: the pool of " + std::to_string(overflow_) +
                                  " overflow nodes is full; " + std::to_string(more) +
                                  " new keys were refused (the other operations were executed)",
                              where};
  }

 private:
  std::uint32_t overflow_;
  Keys keys_;
  warden::buffer<node<Key, Value>> nodes_;
  warden::buffer<std::uint32_t> below_;
  warden::buffer<pool_state> pool_;
  warden::buffer<totals_stripe> counted_;
  warden::buffer<std::uint64_t> refused_before_;  ///< refused keys before the last `clear_async`
  std::uint64_t reported_ = 0;                    ///< refused keys since construction
};

/// Buckets, overflow nodes, pool and totals of one table, on the device current at construction.
template <class Key, class Value, class Keys>
class storage {
 public:
  using bucket_type = bucket<Key, Value>;
  using context = table_context<Key, Value, Keys>;
  using view = table_view<Key, Value, Keys>;

  storage(table_options o, Keys keys, std::source_location where)
      : options_{checked(o, where)},
        buckets_{options_.buckets},
        overflow_{options_.overflow, keys} {
    clear_async({});
    warden::stream_ref{}.synchronize();
  }

  /// Empties the table and forgets the totals; enqueued.
  void clear_async(warden::stream_ref s) {
    buckets_.fill_bytes(0, s);
    overflow_.clear_async(s);
  }

  [[nodiscard]] bucket_type* buckets() const { return buckets_.data(); }
  [[nodiscard]] std::uint32_t bucket_count() const { return options_.buckets; }
  [[nodiscard]] unsigned partitions() const { return options_.partitions; }
  [[nodiscard]] context device_context() const {
    return overflow_.device_context(options_.buckets);
  }
  /// Returns a view of the table for kernels that run while no operation runs.
  [[nodiscard]] view device_view() const { return {buckets_.data(), device_context()}; }
  /// Device memory, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return buckets_.bytes() + overflow_.memory_bytes();
  }

  /// Finds `n` keys; all pointers are device memory. Sets `found[i]` to true if `keys[i]` is
  /// present, and then `values[i]` to its value. Enqueued; valid only after the operations' `wait`.
  void find_async(Key const* keys, std::uint32_t n, Value* values, bool* found,
                  warden::stream_ref s = {}) const {
    simt::launch(&detail::find_kernel<view, Key, Value>, apps::blocks(), apps::threads(), 0,
                 {device_view(), keys, n, values, found}, s);
  }
  /// Calls `f(key, value)` on the device for every entry, in no order, many at a time. Enqueued;
  /// valid only after the operations' `wait`.
  template <class F>
  void for_each_async(F f, warden::stream_ref s = {}) const {
    simt::launch(&detail::visit_kernel<view, F>, apps::blocks(), apps::threads(), 0,
                 {device_view(), f}, s);
  }

  /// Outcomes of the operations since construction or `clear_async`; blocks the host.
  [[nodiscard]] totals counts(warden::stream_ref s = {}) const { return overflow_.counts(s); }
  /// Throws limit_error if keys were refused since the last call.
  void check_pool(warden::stream_ref s, std::source_location where) {
    overflow_.check_pool(s, where);
  }

  /// Returns the options with their defaults filled in. Throws limit_error for impossible ones.
  static table_options checked(table_options o, std::source_location where) {
    constexpr std::uint32_t most = 1u << 31;
    auto const check = [&](char const* what, std::uint32_t n) {
      if (n == 0 || n > most) {
        throw warden::limit_error{std::string{"hash_table: "} + what + " " + std::to_string(n) +
                                      " is not from 1 to 2147483648",
                                  where};
      }
    };
    check("capacity", o.capacity);
    std::uint64_t const twice = 2 * std::uint64_t{o.capacity};
    constexpr std::uint64_t slots = bucket_type::slots;
    // If keys are few, all threads with keys of one bucket are in one block and wait for the
    // longest search. More slots make it shorter and cost little.
    std::uint64_t const wanted = o.capacity <= 8192 ? 4 * twice : twice;
    if (o.buckets == 0) o.buckets = static_cast<std::uint32_t>((wanted + slots - 1) / slots);
    if (o.overflow == 0)
      o.overflow = o.buckets * slots < twice ? o.capacity : std::max(64u, o.capacity / 4);
    check("overflow", o.overflow);
    return o;
  }

 private:
  table_options options_;
  warden::buffer<bucket_type> buckets_;
  overflow_memory<Key, Value, Keys> overflow_;
};

}  // namespace hash_table
