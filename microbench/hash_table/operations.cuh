// SPDX-License-Identifier: Apache-2.0
// Operations of the hash table benchmark, each with an oracle that detects lost, doubled and torn
// operations. Keys and values have 4 bytes; values of `update` have 24 bytes.
#pragma once

#include "apps/hash_table/sections.cuh"
#include "apps/hash_table/storage.cuh"
#include "microbench/support/device.cuh"

#include <cstdint>

namespace hash_table_bench {

namespace simt = warden::simt;

using key_type = std::uint32_t;
using keys_type = hash_table::integer_keys<key_type>;

/// Factor that spreads keys over all 32 bits. It is odd, so it has an inverse, by which the oracle
/// gets the id of a key.
inline constexpr key_type key_factor = 0x9e3779b1u;
constexpr key_type inverse(key_type odd) {
  key_type x = odd;  // 3 bits are right; each step doubles their number
  for (int step = 0; step < 4; ++step) x *= 2 - odd * x;
  return x;
}
inline constexpr key_type key_inverse = inverse(key_factor);
static_assert(static_cast<key_type>(key_factor * key_inverse) == 1);
WARDEN_HOST_DEVICE key_type key_of(std::uint32_t id) { return (id + 1) * key_factor; }
WARDEN_HOST_DEVICE std::uint32_t id_of(key_type key) { return key * key_inverse - 1; }

/// Memory that the oracles read and write. Precondition: `per_key` and `sums` are 0.
struct oracle {
  std::uint32_t const* ids;
  std::uint32_t n;
  std::uint32_t keys;
  std::uint32_t* per_key;
  std::uint64_t* sums;  ///< two words for each key, if the operation needs them
  std::uint64_t* entries;
  std::uint64_t* wrong;

  __device__ void count_wrong() const { simt::fetch_add(wrong, std::uint64_t{1}); }
};

/// Inserts the keys of ids `first`, `first + step`, ..., with the value 0.
template <class Value>
struct fill {
  std::uint32_t first, step;
  using section = typename hash_table::sections<key_type, Value, keys_type>::insert;
  __device__ section operator()(std::uint32_t i) const { return {key_of(first + i * step), {}}; }
};

/// Base of the operations on values of one word.
struct on_words {
  using value_type = std::uint32_t;
  using sections = hash_table::sections<key_type, value_type, keys_type>;
};

/// Counts the occurrences of each key.
struct count : on_words {
  static constexpr char const* name = "count";
  static constexpr bool has_atomic = true;
  struct make {
    std::uint32_t const* ids;
    __device__ sections::count operator()(std::uint32_t i) const { return {key_of(ids[i])}; }
  };
  template <class Table>
  static void start(Table&, std::uint32_t) {}
  template <class Table>
  static void run(Table& table, std::uint32_t const* ids, std::uint32_t n) {
    table.run_async(make{ids}, n);
  }
  /// Runs for each operation before the entries are visited: counts the operations of each key.
  __device__ static void prepare(oracle const& o, std::uint64_t i) {
    if (i < o.n) simt::fetch_add(&o.per_key[o.ids[i]], 1u);
  }
  /// Runs for each entry: checks that its value is the number of operations of its key, and that no
  /// other entry has the key.
  __device__ static void visit(oracle const& o, key_type key, value_type value) {
    std::uint32_t const id = id_of(key);
    if (id >= o.keys || simt::exchange(&o.per_key[id], 0u) != value || value == 0) o.count_wrong();
  }
  /// Runs for each key after that: finds drawn keys without an entry.
  __device__ static void finish(oracle const& o, std::uint64_t id) {
    if (id < o.keys && o.per_key[id] != 0) o.count_wrong();
  }
  static bool adds_up(hash_table::totals const& t, std::uint32_t n, std::uint64_t entries) {
    // Combined operations count as one.
    return t.inserted + t.updated <= n && t.inserted == entries;
  }
};

/// Assigns the number of the operation to present keys, by `insert_or_assign`.
struct assign : on_words {
  static constexpr char const* name = "assign";
  static constexpr bool has_atomic = true;
  struct make {
    std::uint32_t const* ids;
    __device__ sections::insert_or_assign operator()(std::uint32_t i) const {
      return {key_of(ids[i]), i + 1};
    }
  };
  template <class Table>
  static void start(Table& table, std::uint32_t keys) {
    table.run_async(fill<value_type>{0, 1}, keys);
  }
  template <class Table>
  static void run(Table& table, std::uint32_t const* ids, std::uint32_t n) {
    table.run_async(make{ids}, n);
  }
  __device__ static void prepare(oracle const& o, std::uint64_t i) {
    if (i < o.n) simt::store_relaxed(&o.per_key[o.ids[i]], 1u);
  }
  /// The value of a key must be the number of one of its operations, if any.
  __device__ static void visit(oracle const& o, key_type key, value_type value) {
    std::uint32_t const id = id_of(key);
    if (id >= o.keys) return o.count_wrong();
    std::uint32_t const drawn = simt::exchange(&o.per_key[id], 2u);
    bool const written = drawn == 1 && value - 1 < o.n && o.ids[value - 1] == id;
    if (!written && !(drawn == 0 && value == 0)) o.count_wrong();
  }
  __device__ static void finish(oracle const& o, std::uint64_t id) {
    if (id < o.keys && o.per_key[id] != 2) o.count_wrong();
  }
  static bool adds_up(hash_table::totals const& t, std::uint32_t n, std::uint64_t entries) {
    return t.updated <= n && t.inserted == entries;
  }
};

/// The first half of the operations inserts, the second half erases. The table is half full at the
/// start.
struct churn : on_words {
  static constexpr char const* name = "churn";
  static constexpr bool has_atomic = false;
  struct make {
    std::uint32_t const* ids;
    __device__ sections::insert operator()(std::uint32_t i) const {
      return {key_of(ids[i]), i + 1};
    }
  };
  struct make_erase {
    std::uint32_t const* ids;
    __device__ sections::erase operator()(std::uint32_t i) const { return {key_of(ids[i])}; }
  };
  template <class Table>
  static void start(Table& table, std::uint32_t keys) {
    table.run_async(fill<value_type>{0, 2}, (keys + 1) / 2);
  }
  template <class Table>
  static void run(Table& table, std::uint32_t const* ids, std::uint32_t n) {
    table.run_async(make{ids}, n / 2);
    table.run_async(make_erase{ids + n / 2}, n - n / 2);
  }
  /// Marks the keys of the second half, which must be absent.
  __device__ static void prepare(oracle const& o, std::uint64_t i) {
    if (i >= o.n / 2 && i < o.n) simt::store_relaxed(&o.per_key[o.ids[i]], 1u);
  }
  __device__ static void visit(oracle const& o, key_type key, value_type value) {
    std::uint32_t const id = id_of(key);
    if (id >= o.keys || simt::exchange(&o.per_key[id], 2u) != 0) return o.count_wrong();
    bool const inserted = value - 1 < o.n / 2 && o.ids[value - 1] == id;
    if (!inserted && !(value == 0 && id % 2 == 0)) o.count_wrong();
  }
  __device__ static void finish(oracle const&, std::uint64_t) {}
  static bool adds_up(hash_table::totals const& t, std::uint32_t n, std::uint64_t entries) {
    return t.erased + t.absent <= n - n / 2 && t.inserted - t.erased == entries;
  }
};

/// Updates a value of 24 bytes under a condition, which no atomic can do.
struct update {
  struct value_type {
    std::int64_t balance;    ///< never below zero
    std::uint64_t mixed;     ///< sum of a hash of all operations
    std::uint32_t accepted;  ///< operations that changed the balance
    std::uint32_t refused;   ///< operations that would have made the balance negative
  };
  static_assert(sizeof(value_type) == 24);
  using sections = hash_table::sections<key_type, value_type, keys_type>;
  static constexpr char const* name = "update";
  static constexpr bool has_atomic = false;
  /// Not linear: two lost operations and a doubled one do not cancel.
  WARDEN_HOST_DEVICE static std::uint64_t hash(std::uint32_t writer) {
    return std::uint64_t{writer * 0x9e3779b1u} * (writer ^ 0x85ebca6bu) >> 8;
  }
  /// Value that an operation adds: 1 or -1 with equal probability, so that balances stay near 0 and
  /// many operations are refused.
  WARDEN_HOST_DEVICE static std::int64_t amount(std::uint32_t writer) {
    return (writer * 0x85ebca6bu >> 31) != 0 ? 1 : -1;
  }
  struct change {
    static constexpr bool reads_other_memory = false;
    key_type key;
    std::uint32_t writer;
    __device__ void operator()(sections::bucket_type& b, sections::context const& c) const {
      value_type* const v = c.find(b, key);
      if (v == nullptr) {
        c.count(hash_table::outcome::absent);
        return;
      }
      std::int64_t const after = v->balance + amount(writer);
      bool const accepted = after >= 0;
      v->balance = accepted ? after : v->balance;
      v->mixed += hash(writer);
      v->accepted += accepted ? 1 : 0;
      v->refused += accepted ? 0 : 1;
      c.count(hash_table::outcome::updated);
    }
  };
  struct make {
    std::uint32_t const* ids;
    __device__ change operator()(std::uint32_t i) const { return {key_of(ids[i]), i}; }
  };
  template <class Table>
  static void start(Table& table, std::uint32_t keys) {
    table.run_async(fill<value_type>{0, 1}, keys);
  }
  template <class Table>
  static void run(Table& table, std::uint32_t const* ids, std::uint32_t n) {
    table.run_async(make{ids}, n);
  }
  /// Counts the operations of each key, and adds up their amounts and hashes.
  __device__ static void prepare(oracle const& o, std::uint64_t i) {
    if (i >= o.n) return;
    auto const writer = static_cast<std::uint32_t>(i);
    std::uint32_t const id = o.ids[i];
    simt::fetch_add(&o.per_key[id], 1u);
    simt::fetch_add(&o.sums[2 * std::uint64_t{id}], static_cast<std::uint64_t>(amount(writer)));
    simt::fetch_add(&o.sums[2 * std::uint64_t{id} + 1], hash(writer));
  }
  /// Each refused operation has the amount -1, so the balance is the sum of all amounts plus the
  /// number of refusals.
  __device__ static void visit(oracle const& o, key_type key, value_type const& v) {
    std::uint32_t const id = id_of(key);
    if (id >= o.keys) return o.count_wrong();
    std::uint32_t const drawn = simt::exchange(&o.per_key[id], ~0u);
    auto const sum = static_cast<std::int64_t>(o.sums[2 * std::uint64_t{id}]);
    bool const good = drawn != ~0u && v.accepted + v.refused == drawn && v.balance >= 0 &&
                      v.balance == sum + v.refused && v.mixed == o.sums[2 * std::uint64_t{id} + 1];
    if (!good) o.count_wrong();
  }
  __device__ static void finish(oracle const& o, std::uint64_t id) {
    if (id < o.keys && o.per_key[id] != ~0u) o.count_wrong();
  }
  static bool adds_up(hash_table::totals const& t, std::uint32_t n, std::uint64_t entries) {
    return t.updated == n && t.inserted == entries;
  }
};

}  // namespace hash_table_bench
