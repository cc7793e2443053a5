// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bucket: one line of memory with slots, and the first node of its overflow.
#pragma once

#include "apps/hash_table/keys.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace hash_table {

/// One entry of the table.
template <class Key, class Value>
struct slot {
  kept_key<Key> key;
  Value value;
};

/// Entry that found no slot in its bucket.
template <class Key, class Value>
struct node {
  slot<Key, Value> entry;
  std::uint32_t next;  ///< number of the next node of the bucket; 0 for none
};

namespace detail {

/// Entries of a bucket, each key next to its value, so that one sector of memory has both.
template <class Key, class Value, unsigned Slots>
struct entries_together {
  slot<Key, Value> entries[Slots];

  __device__ kept_key<Key>& key(unsigned s) { return entries[s].key; }
  __device__ kept_key<Key> const& key(unsigned s) const { return entries[s].key; }
  __device__ Value& value(unsigned s) { return entries[s].value; }
  __device__ Value const& value(unsigned s) const { return entries[s].value; }
};
/// Entries of a bucket, all keys before all values, so that the alignment of values leaves no gaps
/// between keys.
template <class Key, class Value, unsigned Slots>
struct entries_apart {
  kept_key<Key> keys[Slots];
  Value values[Slots];

  __device__ kept_key<Key>& key(unsigned s) { return keys[s]; }
  __device__ kept_key<Key> const& key(unsigned s) const { return keys[s]; }
  __device__ Value& value(unsigned s) { return values[s]; }
  __device__ Value const& value(unsigned s) const { return values[s]; }
};

/// Number and layout of a bucket's entries.
template <class Key, class Value>
class bucket_plan {
 public:
  static constexpr bool large_values = sizeof(Value) > 8;

 private:
  static constexpr std::size_t line = 128;
  static constexpr std::size_t alignment = alignof(slot<Key, Value>);
  static constexpr std::size_t header = alignment <= 8 ? 8 : alignment;
  static constexpr unsigned most = 30;

  static constexpr std::size_t together(std::size_t lines) {
    return (lines * line - header) / sizeof(slot<Key, Value>);
  }
  static constexpr std::size_t apart(std::size_t lines) {
    // Bytes lost between keys and values: less than one value's alignment.
    std::size_t const lost = (alignof(Value) - 1) / alignof(kept_key<Key>) * alignof(kept_key<Key>);
    return (lines * line - header - lost) / (sizeof(kept_key<Key>) + sizeof(Value));
  }
  /// Returns the lines of a bucket. Large entries take several lines, because with less than three
  /// slots too many entries would overflow.
  static constexpr std::size_t lines() {
    std::size_t n = 1;
    while (together(n) < 3 && (!large_values || apart(n) < 3)) ++n;
    return n;
  }

  /// A value of one word stays next to its key: in memory an operation then touches one sector.
  static constexpr bool lie_apart = large_values && apart(lines()) > together(lines());

 public:
  static constexpr unsigned slots = static_cast<unsigned>(
      std::min<std::size_t>(lie_apart ? apart(lines()) : together(lines()), most));
  using entries = std::conditional_t<lie_apart, entries_apart<Key, Value, slots>,
                                     entries_together<Key, Value, slots>>;
};

}  // namespace detail

/// Bucket: the record that one owner, or one lock, protects. Entries never move: an entry has the
/// same slot or node from insertion to erasure.
///
/// Key and value of a free slot are zero. `used` has a bit for each slot that is not free. If keys
/// are inserted by atomics, which do not read `used`, it is updated after the slot's key.
template <class Key, class Value>
struct alignas(128) bucket {
  /// Number of slots.
  static constexpr unsigned slots = detail::bucket_plan<Key, Value>::slots;
  /// True if a value is larger than a word.
  static constexpr bool large_values = detail::bucket_plan<Key, Value>::large_values;
  /// Bit of `used` above the bits of the slots. Set when a slot is freed. Until then a present key
  /// is before the first free slot, counted from the key's first slot.
  static constexpr std::uint32_t has_gaps = std::uint32_t{1} << 31;

  std::uint32_t used;      ///< bit s: slot s holds an entry; `has_gaps`
  std::uint32_t overflow;  ///< number of the first node; 0 for none
  typename detail::bucket_plan<Key, Value>::entries entries;

  /// Returns the slot at which the search for a key begins. It depends on the key, because all
  /// buckets have the same banks of shared memory and lanes that all began at slot 0 would
  /// conflict.
  __device__ static unsigned first_slot(std::uint64_t hash) {
    return warden::simt::multiply_high(static_cast<std::uint32_t>(hash), std::uint32_t{slots});
  }
  __device__ static unsigned next_slot(unsigned at) { return at + 1 == slots ? 0 : at + 1; }
};

}  // namespace hash_table
