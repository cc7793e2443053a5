// SPDX-License-Identifier: Apache-2.0
/// @file
/// The table on the device: buckets, nodes, and its operations as critical sections on a bucket.
/// Every arm runs these: as messages to a bucket's owner, under a bucket's lock, or, where there is
/// a member `atomic`, without any lock.
#pragma once

#include "apps/hash_table/pool.cuh"

#include <cstdint>
#include <type_traits>

namespace hash_table {

/// What one owner, or one lock, protects: a chain of nodes.
struct bucket {
  std::uint32_t first;  ///< number of the first node; 0 for none
};

/// One entry of the table.
template <class Key, class Value>
struct node {
  Key key;
  Value value;
  std::uint32_t next;  ///< number of the next node of the bucket; 0 for none
};

/// What became of an operation.
enum class outcome : std::uint8_t {
  inserted,  ///< a new key
  updated,   ///< the value of a key that was there
  present,   ///< an insert that found its key, and changed nothing
  erased,    ///< a key removed
  absent,    ///< an erase that found nothing
  refused,   ///< a new key for which the pool had no node
};

/// What became of the operations.
struct totals {
  std::uint64_t inserted;  ///< new keys
  std::uint64_t updated;   ///< values of keys that were there
  std::uint64_t present;   ///< inserts that found their key, and changed nothing
  std::uint64_t erased;    ///< keys removed
  std::uint64_t absent;    ///< erases that found nothing
  std::uint64_t refused;   ///< new keys for which the pool had no node
};

using total = std::uint64_t totals::*;
/// Where an outcome is counted.
__device__ constexpr total total_of(outcome o) {
  switch (o) {
    case outcome::inserted:
      return &totals::inserted;
    case outcome::updated:
      return &totals::updated;
    case outcome::present:
      return &totals::present;
    case outcome::erased:
      return &totals::erased;
    case outcome::absent:
      return &totals::absent;
    default:
      return &totals::refused;
  }
}

/// What a look for a key found.
template <class Value>
struct finding {
  Value value;    ///< of the key, if it is there
  bool is_there;  ///< otherwise the value is zero
};

/// The totals lie apart by the block that counts, so that blocks do not contend for them.
struct alignas(128) totals_stripe {
  totals counts;
};
inline constexpr unsigned stripes = 256;

/// Hash and equality of integers.
template <class Key>
struct integer_keys {
  static_assert(sizeof(Key) == 4 || sizeof(Key) == 8, "integer_keys: keys of 4 or 8 bytes");
  /// Well mixed in all 64 bits.
  __device__ std::uint64_t hash(Key key) const {
    auto x = static_cast<std::uint64_t>(key) + 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  __device__ bool equal(Key a, Key b) const { return a == b; }
};

/// What every section is handed: nodes, pool, totals, and how keys compare. `Keys` is a trivially
/// copyable object with `hash(key)` and `equal(a, b)`.
template <class Key, class Value, class Keys>
struct table_context {
  using node_type = node<Key, Value>;

  node_type* nodes;
  pool_ref pool;
  totals_stripe* counted;
  Keys keys;
  std::uint32_t buckets;

  __device__ node_type& at(std::uint32_t number) const { return nodes[number - 1]; }
  __device__ std::uint32_t bucket_of(Key const& key) const {
    return static_cast<std::uint32_t>(simt::multiply_high(keys.hash(key), std::uint64_t{buckets}));
  }
  __device__ outcome count(outcome o) const {
    totals& counts = counted[simt::block_rank() % stripes].counts;
    simt::fetch_add(&(counts.*total_of(o)), std::uint64_t{1});
    return o;
  }
  /// The node with the key in the chain that begins at `first`; 0 if there is none.
  __device__ std::uint32_t find(std::uint32_t first, Key const& key) const {
    std::uint32_t n = first;
    while (n != 0 && !keys.equal(at(n).key, key)) n = at(n).next;
    return n;
  }
  /// A new node in front of `b`'s chain. The caller excludes others from the bucket.
  __device__ outcome prepend(bucket& b, Key const& key, Value const& value) const {
    std::uint32_t const n = pool.take();
    if (n == 0) return count(outcome::refused);
    at(n) = {key, value, b.first};
    b.first = n;
    return count(outcome::inserted);
  }
  /// Without any lock: the key's node, which is `made` (then its value is the given one) or was
  /// there; 0 if the pool is full. Nodes are never removed from the chain.
  __device__ std::uint32_t find_or_make(bucket* b, Key const& key, Value const& value,
                                        bool& made) const {
    made = false;
    std::uint32_t mine = 0, searched_to = 0;
    // Acquire: whoever linked a node fenced between filling it and the exchange.
    std::uint32_t first = simt::load_acquire(&b->first);
    while (true) {
      for (std::uint32_t n = first; n != searched_to; n = at(n).next) {
        if (!keys.equal(at(n).key, key)) continue;
        if (mine != 0) pool.give(mine);
        return n;
      }
      if (mine == 0 && (mine = pool.take()) == 0) {
        count(outcome::refused);
        return 0;
      }
      at(mine) = {key, value, first};
      simt::fence_device();  // release, for the exchange
      std::uint32_t const found = simt::compare_exchange(&b->first, first, mine);
      if (found == first) {
        made = true;
        count(outcome::inserted);
        return mine;
      }
      simt::fence_device();  // acquire, after the exchange that failed
      searched_to = first;
      first = found;
    }
  }
};

/// Whether there is something to add to a value.
template <class Value>
inline constexpr bool can_add = requires(Value a, Value b) {
  a += b;
};

/// The sections of one table type, which tell their caller what became of them if `Answers`. None
/// reads what its sender wrote. Besides its record, which may be a copy, a section touches the
/// nodes of its bucket: nobody comes to them but through the bucket, so whoever excludes others
/// from it excludes them from its nodes, and hands both on together. From bucket to bucket a node
/// goes through the pool, which fences.
template <class Key, class Value, class Keys, bool Answers = false>
struct sections {
  using context = table_context<Key, Value, Keys>;
  using told = std::conditional_t<Answers, outcome, void>;

  /// A new key; nothing if it is there.
  struct insert {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value value;
    __device__ told operator()(bucket& b, context c) const {
      if (c.find(b.first, key) != 0) return told(c.count(outcome::present));
      return told(c.prepend(b, key, value));
    }
    __device__ void atomic(bucket* b, context c) const {
      bool made;
      if (c.find_or_make(b, key, value, made) != 0 && !made) c.count(outcome::present);
    }
  };

  /// A new key, or another value for one that is there.
  struct insert_or_assign {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value value;
    __device__ told operator()(bucket& b, context c) const {
      std::uint32_t const n = c.find(b.first, key);
      if (n == 0) return told(c.prepend(b, key, value));
      c.at(n).value = value;
      return told(c.count(outcome::updated));
    }
  };

  /// A new key, or more of one that is there, by `+=`.
  struct add {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value amount;
    __device__ told operator()(bucket& b, context c) const {
      std::uint32_t const n = c.find(b.first, key);
      if (n == 0) return told(c.prepend(b, key, amount));
      // Tables whose values cannot be added have this section, but no way to send it.
      if constexpr (can_add<Value>) c.at(n).value += amount;
      return told(c.count(outcome::updated));
    }
    __device__ void atomic(bucket* b, context c) const {
      bool made;
      std::uint32_t const n = c.find_or_make(b, key, amount, made);
      if (n == 0 || made) return;
      simt::fetch_add(&c.at(n).value, amount);
      c.count(outcome::updated);
    }
  };

  /// The key no more.
  struct erase {
    static constexpr bool reads_other_memory = false;
    Key key;
    __device__ told operator()(bucket& b, context c) const {
      std::uint32_t before = 0, n = b.first;
      while (n != 0 && !c.keys.equal(c.at(n).key, key)) {
        before = n;
        n = c.at(n).next;
      }
      if (n == 0) return told(c.count(outcome::absent));
      (before == 0 ? b.first : c.at(before).next) = c.at(n).next;
      c.pool.give(n);
      return told(c.count(outcome::erased));
    }
  };

  /// Looks for a key, between the other operations on its bucket. It is not counted.
  struct find {
    static constexpr bool reads_other_memory = false;
    Key key;
    __device__ finding<Value> operator()(bucket& b, context c) const {
      std::uint32_t const n = c.find(b.first, key);
      if (n == 0) return {};
      return {c.at(n).value, true};
    }
  };
};

}  // namespace hash_table
