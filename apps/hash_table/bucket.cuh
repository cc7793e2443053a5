// SPDX-License-Identifier: Apache-2.0
/// @file
/// A bucket: one line of memory with its slots inside, and the node in which overflow begins.
#pragma once

#include "apps/hash_table/keys.cuh"

#include <cstddef>
#include <cstdint>

namespace hash_table {

/// One entry of the table.
template <class Key, class Value>
struct slot {
  kept_key<Key> key;
  Value value;
};

/// An entry for which its bucket had no slot.
template <class Key, class Value>
struct node {
  slot<Key, Value> entry;
  std::uint32_t next;  ///< number of the next node of the bucket; 0 for none
};

/// What one owner, or one lock, protects. Entries never move: from when it is inserted until it is
/// erased an entry has one place, in a slot or in a node.
///
/// A slot that is free is zero, key and value. `used` says which ones are not; it is brought up to
/// date behind the slot's key where keys are inserted by atomics, which do not look at it.
template <class Key, class Value>
struct alignas(128) bucket {
  using slot_type = slot<Key, Value>;

 private:
  static constexpr std::size_t line = 128;
  static constexpr std::size_t header = alignof(slot_type) <= 8 ? 8 : alignof(slot_type);
  static constexpr unsigned slots_in(std::size_t lines) {
    return static_cast<unsigned>((lines * line - header) / sizeof(slot_type));
  }
  /// Large entries take several lines: with less than three slots too many would overflow.
  static constexpr std::size_t lines() {
    std::size_t n = 1;
    while (slots_in(n) < 3) ++n;
    return n;
  }

 public:
  /// Entries that it holds.
  static constexpr unsigned slots = slots_in(lines()) < 30 ? slots_in(lines()) : 30;
  /// Beside the bits of the slots: whether one was ever freed. Until then a key that is there lies
  /// before the first free slot from its own on.
  static constexpr std::uint32_t has_gaps = std::uint32_t{1} << 31;

  std::uint32_t used;      ///< bit s: slot s holds an entry; `has_gaps`
  std::uint32_t overflow;  ///< number of the first node; 0 for none
  slot_type entries[slots];

  /// Where a key's look begins: buckets lie alike in the banks of shared memory, so that lanes that
  /// all began at the first slot would meet.
  __device__ static unsigned first_slot(std::uint64_t hash) {
    return warden::simt::multiply_high(static_cast<std::uint32_t>(hash), std::uint32_t{slots});
  }
  __device__ static unsigned next_slot(unsigned at) { return at + 1 == slots ? 0 : at + 1; }
};

}  // namespace hash_table
