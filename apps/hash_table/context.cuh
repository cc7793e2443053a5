// SPDX-License-Identifier: Apache-2.0
/// @file
/// Context of every operation: finds, inserts and erases a key in a bucket.
#pragma once

#include "apps/hash_table/bucket.cuh"
#include "apps/hash_table/outcome.cuh"
#include "apps/hash_table/pool.cuh"

#include <cstdint>

namespace hash_table {

/// `Keys` is a trivially copyable object with `hash(key)` and `equal(a, b)`.
///
/// Precondition of these functions: no other thread uses the bucket or its nodes, which are reached
/// only through the bucket. A node moves from bucket to bucket through the pool, which fences.
template <class Key, class Value, class Keys>
struct table_context {
  using bucket_type = bucket<Key, Value>;
  using node_type = node<Key, Value>;

  node_type* nodes;
  pool_ref pool;
  outcome_counter count;
  Keys keys;
  std::uint32_t buckets;

  __device__ std::uint32_t bucket_of(Key const& key) const {
    return static_cast<std::uint32_t>(simt::multiply_high(keys.hash(key), std::uint64_t{buckets}));
  }
  __device__ node_type& at(std::uint32_t number) const { return nodes[number - 1]; }

  /// Returns the key's value in its bucket; null if the key is not there.
  __device__ Value* find(bucket_type& b, Key const& key) const {
    looked const place = look(b, key);
    if (place.slot != none) return &b.entries.value(place.slot);
    return value_of(find_node(nodes, keys, b.overflow, key));
  }
  /// Returns the key's value, after inserting the key with `value` if it was not there. Sets `made`
  /// to true if it was inserted. Returns null if there is no room.
  __device__ Value* find_or_insert(bucket_type& b, Key const& key, Value const& value,
                                   bool& made) const {
    made = false;
    looked const place = look(b, key);
    if (place.slot != none) return &b.entries.value(place.slot);
    std::uint32_t const there = find_node(nodes, keys, b.overflow, key);
    if (there != 0) return value_of(there);
    made = true;
    if (place.free != none) {
      b.entries.key(place.free) = kept_key<Key>::of(key);
      b.entries.value(place.free) = value;
      b.used |= 1u << place.free;
      return &b.entries.value(place.free);
    }
    std::uint32_t const number = take_node(pool);
    if (number == 0) return nullptr;
    at(number) = {{kept_key<Key>::of(key), value}, b.overflow};
    b.overflow = number;
    return value_of(number);
  }
  /// Erases the key. Returns true if there was such a key.
  __device__ bool erase(bucket_type& b, Key const& key) const {
    looked const place = look(b, key);
    if (place.slot != none) {
      b.entries.key(place.slot) = {};
      b.entries.value(place.slot) = {};
      b.used = (b.used & ~(1u << place.slot)) | bucket_type::has_gaps;  // mutation: gap-unmarked
    } else {
      std::uint32_t const number = find_node(nodes, keys, b.overflow, key);
      if (number == 0) return false;
      std::uint32_t* link = &b.overflow;
      while (*link != number) link = &at(*link).next;
      *link = at(number).next;  // mutation: node-rest
      give_node(pool, number);
    }
    // An empty bucket is as good as new.
    if (b.used == bucket_type::has_gaps && b.overflow == 0) b.used = 0;
    return true;
  }
  /// Calls `f(key, value)` for each entry of the bucket.
  template <class F>
  __device__ void for_each(bucket_type const& b, F f) const {
    WARDEN_NO_UNROLL
    for (unsigned s = 0; s < bucket_type::slots; ++s) {
      if (b.used >> s & 1u) f(b.entries.key(s).key(), b.entries.value(s));
    }
    for (std::uint32_t n = b.overflow; n != 0; n = at(n).next)
      f(at(n).entry.key.key(), at(n).entry.value);
  }

 private:
  static constexpr unsigned none = bucket_type::slots;
  /// Result of a search of the slots.
  struct looked {
    unsigned slot = none;  ///< slot of the key; `none` if the key is in a node or not there
    unsigned free = none;  ///< first free slot that the search passed
  };

  /// Searches the slots in a loop; the rest is out of line. An executor has many copies of a
  /// section's code, and all of them should fit the instruction cache.
  __device__ looked look(bucket_type const& b, Key const& key) const {
    looked place;
    if (!kept_key<Key>::of(key).fits_slot()) return place;
    std::uint32_t const used = b.used;
    unsigned s = bucket_type::first_slot(keys.hash(key));
    WARDEN_NO_UNROLL
    for (unsigned left = bucket_type::slots; left != 0; --left) {
      if (used >> s & 1u) {
        if (keys.equal(b.entries.key(s).key(), key)) {
          place.slot = s;
          break;
        }
      } else {
        if (place.free == none) place.free = s;
        // No slot was ever freed, so the key is not after a free slot.
        if ((used & bucket_type::has_gaps) == 0) break;
      }
      s = bucket_type::next_slot(s);
    }
    return place;
  }
  __device__ Value* value_of(std::uint32_t number) const {
    return number == 0 ? nullptr : &at(number).entry.value;
  }

  /// Returns the number of the key's node, searched from node `n` on; 0 if there is none.
  __device__ static std::uint32_t find_node(node_type const* nodes, Keys const& keys,
                                            std::uint32_t n, Key const& key) {
    return n == 0 ? 0 : walk_nodes(nodes, keys, n, key);
  }
  WARDEN_COLD static std::uint32_t walk_nodes(node_type const* nodes, Keys keys, std::uint32_t n,
                                              Key key) {
    while (n != 0 && !keys.equal(nodes[n - 1].entry.key.key(), key)) n = nodes[n - 1].next;
    return n;
  }
  WARDEN_COLD static std::uint32_t take_node(pool_ref pool) { return pool.take(); }
  WARDEN_COLD static void give_node(pool_ref pool, std::uint32_t number) { pool.give(number); }
};

}  // namespace hash_table
