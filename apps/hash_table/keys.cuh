// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keys: their hash, their equality and their representation in a slot.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hash_table {

/// Hash and equality of integers.
template <class Key>
struct integer_keys {
  static_assert(sizeof(Key) == 4 || sizeof(Key) == 8, "integer_keys: keys of 4 or 8 bytes");
  /// Returns a hash that is well mixed in all 64 bits.
  __device__ std::uint64_t hash(Key key) const {
    auto x = static_cast<std::uint64_t>(key) + 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  __device__ bool equal(Key a, Key b) const { return a == b; }
};

/// True if one compare-and-swap can write a key.
template <class Key>
inline constexpr bool is_word_key = sizeof(Key) == 4 || sizeof(Key) == 8;

/// Key in a slot. The bucket records which slots have a key.
template <class Key, bool IsWord = is_word_key<Key>>
struct kept_key {
  Key kept;

  __device__ static kept_key of(Key const& key) { return {key}; }
  __device__ Key key() const { return kept; }
  /// Returns true if a slot can hold the key.
  __device__ static constexpr bool fits_slot() { return true; }
};

/// Key of one word, as bits, which are zero in an empty slot. The key whose bits would be zero is
/// held by overflow nodes only; it is unlikely.
template <class Key>
struct kept_key<Key, true> {
  using word = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;
  static constexpr word zero_key = static_cast<word>(0x9e3779b97f4a7c15ull);

  word bits;

  __device__ static kept_key of(Key const& key) {
    word w;
    memcpy(&w, &key, sizeof(Key));
    return {w ^ zero_key};
  }
  __device__ Key key() const { return key_of(bits); }
  __device__ static Key key_of(word kept) {
    word const w = kept ^ zero_key;
    Key key;
    memcpy(&key, &w, sizeof(Key));
    return key;
  }
  __device__ bool fits_slot() const { return bits != 0; }
};

}  // namespace hash_table
