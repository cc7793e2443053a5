// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every operation is handed beside its bucket: to find, insert and erase a key there.
#pragma once

#include "apps/hash_table/bucket.cuh"
#include "apps/hash_table/outcome.cuh"
#include "apps/hash_table/pool.cuh"

#include <cstdint>

namespace hash_table {

/// `Keys` is a trivially copyable object with `hash(key)` and `equal(a, b)`.
///
/// Whoever calls these excludes others from the bucket, and with it from its nodes: nobody comes to
/// them but through the bucket. From bucket to bucket a node goes through the pool, which fences.
template <class Key, class Value, class Keys>
struct table_context {
  using bucket_type = bucket<Key, Value>;
  using slot_type = slot<Key, Value>;
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

  /// The key's value in its bucket; null if it is not there.
  __device__ Value* find(bucket_type& b, Key const& key) const { return look(b, key).value; }
  /// The same; a new key, with `value`, if it was not there, which `made` then tells. Null if there
  /// is no room.
  __device__ Value* find_or_insert(bucket_type& b, Key const& key, Value const& value,
                                   bool& made) const {
    found const place = look(b, key);
    made = place.value == nullptr;
    return made ? insert(b, place.free, key, value) : place.value;
  }
  /// Whether there was such a key; now there is none.
  __device__ bool erase(bucket_type& b, Key const& key) const {
    found const place = look(b, key);
    if (place.value == nullptr) return false;
    if (place.number == 0) {
      b.entries[place.slot] = {};
      b.used = (b.used & ~(1u << place.slot)) | bucket_type::has_gaps;
    } else {
      (place.before == 0 ? b.overflow : at(place.before).next) = at(place.number).next;
      pool.give(place.number);
    }
    // An empty bucket is as good as new.
    if (b.used == bucket_type::has_gaps && b.overflow == 0) b.used = 0;
    return true;
  }
  /// Calls `f(key, value)` for each entry of the bucket.
  template <class F>
  __device__ void for_each(bucket_type const& b, F f) const {
    for (unsigned s = 0; s < bucket_type::slots; ++s) {
      if (b.used >> s & 1u) f(b.entries[s].key.key(), b.entries[s].value);
    }
    for (std::uint32_t n = b.overflow; n != 0; n = at(n).next)
      f(at(n).entry.key.key(), at(n).entry.value);
  }

 private:
  static constexpr unsigned none = bucket_type::slots;
  /// Where a key lies, or could.
  struct found {
    Value* value = nullptr;            ///< null: nowhere
    unsigned slot = none;              ///< in which one, unless it is in a node
    unsigned free = none;              ///< the first free one that was seen
    std::uint32_t number = 0;          ///< of the node; 0: in a slot
    std::uint32_t before = 0;          ///< of the node before that; 0: it is the first one
  };

  __device__ found look(bucket_type& b, Key const& key) const {
    found place;
    std::uint32_t const used = b.used;
    if (kept_key<Key>::of(key).fits_slot()) {
      unsigned s = bucket_type::first_slot(keys.hash(key));
      for (unsigned looked = 0; looked < bucket_type::slots; ++looked) {
        if (used >> s & 1u) {
          if (keys.equal(b.entries[s].key.key(), key)) {
            place.value = &b.entries[s].value;
            place.slot = s;
            return place;
          }
        } else {
          if (place.free == none) place.free = s;
          // No entry ever went on from here.
          if ((used & bucket_type::has_gaps) == 0) return place;
        }
        s = bucket_type::next_slot(s);
      }
    }
    for (std::uint32_t n = b.overflow; n != 0; n = at(n).next) {
      if (keys.equal(at(n).entry.key.key(), key)) {
        place.value = &at(n).entry.value;
        place.number = n;
        return place;
      }
      place.before = n;
    }
    return place;
  }
  __device__ Value* insert(bucket_type& b, unsigned free, Key const& key,
                           Value const& value) const {
    if (free != none) {
      b.entries[free] = {kept_key<Key>::of(key), value};
      b.used |= 1u << free;
      return &b.entries[free].value;
    }
    std::uint32_t const n = pool.take();
    if (n == 0) return nullptr;
    at(n) = {{kept_key<Key>::of(key), value}, b.overflow};
    b.overflow = n;
    return &at(n).entry.value;
  }
};

}  // namespace hash_table
