// SPDX-License-Identifier: Apache-2.0
// The hash table's operations that are measured, each with an oracle that a lost, doubled or torn
// operation fails. Key and value have 8 bytes each.
#pragma once

#include "apps/hash_table/storage.cuh"
#include "microbench/support/device.cuh"

#include <cstdint>

namespace hash_table_bench {

namespace simt = warden::simt;

using key_type = std::uint64_t;
using value_type = unsigned long long;
using keys_type = hash_table::integer_keys<key_type>;
using sections = hash_table::sections<key_type, value_type, keys_type>;
using view = hash_table::table_view<key_type, value_type, keys_type>;

/// Keys are spread over all 64 bits; odd factors have inverses, so the oracle finds the ids again.
inline constexpr std::uint64_t key_factor = 0x9e3779b97f4a7c15ull;
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;  // right in 3 bits; each step doubles them
  for (int step = 0; step < 5; ++step) x *= 2 - odd * x;
  return x;
}
inline constexpr std::uint64_t key_inverse = inverse(key_factor);
static_assert(key_factor * key_inverse == 1);
WARDEN_HOST_DEVICE key_type key_of(std::uint32_t id) { return (id + 1ull) * key_factor; }
WARDEN_HOST_DEVICE std::uint64_t id_of(key_type key) { return key * key_inverse - 1; }

/// What the oracles read and write: `per_key` is zero before.
struct oracle {
  std::uint32_t const* ids;
  std::uint32_t n;
  std::uint32_t keys;
  std::uint32_t* per_key;
  std::uint64_t* entries;
  std::uint64_t* wrong;

  __device__ void count_wrong() const { simt::fetch_add(wrong, std::uint64_t{1}); }
};

/// Puts the keys `first`, `first + step`, ... in, with the value 0.
struct fill {
  std::uint32_t first, step;
  __device__ sections::insert operator()(std::uint32_t i) const {
    return {key_of(first + i * step), 0};
  }
};

/// How often each key occurs: `add` of 1.
struct count {
  static constexpr char const* name = "count";
  static constexpr bool has_atomic = true;
  struct make {
    std::uint32_t const* ids;
    __device__ sections::add operator()(std::uint32_t i) const { return {key_of(ids[i]), 1}; }
  };
  template <class Table>
  static void start(Table&, std::uint32_t) {}
  template <class Table>
  static void run(Table& table, std::uint32_t const* ids, std::uint32_t n) {
    table.run_async(make{ids}, n);
  }
  /// Before the entries are visited.
  __device__ static void prepare(oracle const& o, std::uint64_t i) {
    if (i < o.n) simt::fetch_add(&o.per_key[o.ids[i]], 1u);
  }
  /// Each entry's value is how often its key was drawn; a key that comes twice is wrong, too.
  __device__ static void visit(oracle const& o, key_type key, value_type value) {
    std::uint64_t const id = id_of(key);
    if (id >= o.keys || simt::exchange(&o.per_key[id], 0u) != value || value == 0) o.count_wrong();
  }
  /// After that: a key that was drawn and has no entry is still counted.
  __device__ static void finish(oracle const& o, std::uint64_t id) {
    if (id < o.keys && o.per_key[id] != 0) o.count_wrong();
  }
  static bool adds_up(hash_table::totals const& t, std::uint32_t n, std::uint64_t entries) {
    return t.inserted + t.updated == n && t.inserted == entries;
  }
};

/// New values for keys that are there: `insert_or_assign` of the operation's number.
struct assign {
  static constexpr char const* name = "assign";
  static constexpr bool has_atomic = false;
  struct make {
    std::uint32_t const* ids;
    __device__ sections::insert_or_assign operator()(std::uint32_t i) const {
      return {key_of(ids[i]), i + 1ull};
    }
  };
  template <class Table>
  static void start(Table& table, std::uint32_t keys) {
    table.run_async(fill{0, 1}, keys);
  }
  template <class Table>
  static void run(Table& table, std::uint32_t const* ids, std::uint32_t n) {
    table.run_async(make{ids}, n);
  }
  __device__ static void prepare(oracle const& o, std::uint64_t i) {
    if (i < o.n) simt::store_relaxed(&o.per_key[o.ids[i]], 1u);
  }
  /// A key's value is the number of one of its operations, if it has any.
  __device__ static void visit(oracle const& o, key_type key, value_type value) {
    std::uint64_t const id = id_of(key);
    if (id >= o.keys) return o.count_wrong();
    std::uint32_t const drawn = simt::exchange(&o.per_key[id], 2u);
    bool const written = drawn == 1 && value - 1 < o.n && o.ids[value - 1] == id;
    if (!written && !(drawn == 0 && value == 0)) o.count_wrong();
  }
  __device__ static void finish(oracle const& o, std::uint64_t id) {
    if (id < o.keys && o.per_key[id] != 2) o.count_wrong();
  }
  static bool adds_up(hash_table::totals const& t, std::uint32_t n, std::uint64_t entries) {
    return t.updated == n && t.inserted == entries;
  }
};

/// The first half of the operations insert, the second half erase; the table begins half full.
struct churn {
  static constexpr char const* name = "churn";
  static constexpr bool has_atomic = false;
  struct make {
    std::uint32_t const* ids;
    __device__ sections::insert operator()(std::uint32_t i) const {
      return {key_of(ids[i]), i + 1ull};
    }
  };
  struct make_erase {
    std::uint32_t const* ids;
    __device__ sections::erase operator()(std::uint32_t i) const { return {key_of(ids[i])}; }
  };
  template <class Table>
  static void start(Table& table, std::uint32_t keys) {
    table.run_async(fill{0, 2}, (keys + 1) / 2);
  }
  template <class Table>
  static void run(Table& table, std::uint32_t const* ids, std::uint32_t n) {
    table.run_async(make{ids}, n / 2);
    table.run_async(make_erase{ids + n / 2}, n - n / 2);
  }
  /// Keys that the second half names are gone.
  __device__ static void prepare(oracle const& o, std::uint64_t i) {
    if (i >= o.n / 2 && i < o.n) simt::store_relaxed(&o.per_key[o.ids[i]], 1u);
  }
  __device__ static void visit(oracle const& o, key_type key, value_type value) {
    std::uint64_t const id = id_of(key);
    if (id >= o.keys || simt::exchange(&o.per_key[id], 2u) != 0) return o.count_wrong();
    bool const inserted = value - 1 < o.n / 2 && o.ids[value - 1] == id;
    if (!inserted && !(value == 0 && id % 2 == 0)) o.count_wrong();
  }
  __device__ static void finish(oracle const&, std::uint64_t) {}
  static bool adds_up(hash_table::totals const& t, std::uint32_t n, std::uint64_t entries) {
    return t.erased + t.absent == n - n / 2 && t.inserted - t.erased == entries;
  }
};

}  // namespace hash_table_bench
