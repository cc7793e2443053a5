// SPDX-License-Identifier: Apache-2.0
// A set of an embedding cache, which implementations with locks protect by one lock per set. A
// request finds its key, or replaces the least recently used key. Its answer is the place of the
// key: a later kernel copies the row.
#pragma once

#include "microbench/support/device.cuh"

#include <warden/section.cuh>

#include <cstdint>

namespace wide_records {

namespace simt = warden::simt;

/// Record of 1 KB: keys, and the number of the batch that used each key last.
struct alignas(16) cache_set {
  static constexpr unsigned size = 64;
  std::uint64_t keys[size];
  std::uint64_t used[size];
};

/// Data that all requests of a batch share.
struct batch {
  /// [request] Place of its key; with the bit `is_new` if the request replaced another key;
  /// `no_place` if this batch has used all keys of the set, because these stay.
  std::uint32_t* places;
  std::uint64_t number;

  static constexpr std::uint32_t is_new = 64, no_place = 128;
};

/// A request for a key. No other section writes the words that it writes outside of the record.
struct request {
  static constexpr bool reads_other_memory = false;
  std::uint32_t key_low, key_high, number;

  WARDEN_HOST_DEVICE std::uint64_t key() const { return std::uint64_t{key_high} << 32 | key_low; }

 protected:
  /// Number of the last batch that used a place, and number of the place, as one number.
  __device__ static std::uint64_t age(std::uint64_t used, unsigned place) {
    return used * cache_set::size + place;
  }
  __device__ static std::uint64_t older(std::uint64_t a, std::uint64_t b) { return b < a ? b : a; }
  /// Marks the place of the key as used, and answers the request.
  __device__ void use(cache_set& set, batch const& b, unsigned place) const {
    set.used[place] = b.number;
    b.places[number] = place;
  }
  /// Replaces the oldest key, unless this batch used it. `oldest` is the smallest age of the set.
  __device__ void replace(cache_set& set, batch const& b, std::uint64_t oldest) const {
    auto const place = static_cast<unsigned>(oldest % cache_set::size);
    if (oldest / cache_set::size == b.number) {
      b.places[number] = batch::no_place;
      return;
    }
    set.keys[place] = key();
    set.used[place] = b.number;
    b.places[number] = place | batch::is_new;
  }
};
struct alignas(16) two_words {
  std::uint64_t first, second;
};
/// Returns words 2 w and 2 w + 1, by one load.
WARDEN_HOST_DEVICE two_words load_two(std::uint64_t const* words, unsigned w) {
  return reinterpret_cast<two_words const*>(words)[w];
}

/// Request that one thread runs. It compares all keys; if its key is not there, it reads all
/// numbers of batches. The compiler chooses how far to unroll the outer loops: loops that it had to
/// keep, with more or fewer loads at a time, were slower on many sets and hardly faster on hot
/// sets.
struct find_alone : request {
  __device__ void operator()(cache_set& set, batch const& b) const {
    constexpr unsigned at_once = 4;
    for (unsigned w = 0; w < cache_set::size / 2; w += at_once) {
      two_words keys[at_once];
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) keys[j] = load_two(set.keys, w + j);
      unsigned found = cache_set::size;
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        if (keys[j].first == key()) found = 2 * (w + j);
        if (keys[j].second == key()) found = 2 * (w + j) + 1;
      }
      if (found == cache_set::size) continue;
      return use(set, b, found);
    }
    std::uint64_t oldest = ~std::uint64_t{0};
    for (unsigned w = 0; w < cache_set::size / 2; w += at_once) {
      two_words used[at_once];
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) used[j] = load_two(set.used, w + j);
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        oldest = older(oldest, age(used[j].first, 2 * (w + j)));
        oldest = older(oldest, age(used[j].second, 2 * (w + j) + 1));
      }
    }
    replace(set, b, oldest);
  }
};
/// Request that `Lanes` lanes run: each lane compares pairs of adjacent keys.
template <unsigned Lanes>
struct find_together : request {
  static constexpr unsigned group_size = Lanes;

  __device__ void operator()(cache_set& set, batch const& b,
                             warden::lane_group<Lanes> const& group) const {
    constexpr unsigned each = cache_set::size / 2 / Lanes;
    unsigned found = cache_set::size;
    WARDEN_UNROLL
    for (unsigned e = 0; e < each; ++e) {
      unsigned const w = e * Lanes + group.lane();
      two_words const keys = load_two(set.keys, w);
      if (keys.first == key()) found = 2 * w;
      if (keys.second == key()) found = 2 * w + 1;
    }
    if (group.any(found != cache_set::size)) {
      if (found != cache_set::size) use(set, b, found);
      return;
    }
    std::uint64_t oldest = ~std::uint64_t{0};
    WARDEN_UNROLL
    for (unsigned e = 0; e < each; ++e) {
      unsigned const w = e * Lanes + group.lane();
      two_words const used = load_two(set.used, w);
      oldest = older(oldest, age(used.first, 2 * w));
      oldest = older(oldest, age(used.second, 2 * w + 1));
    }
    oldest = group.reduce(oldest, older);
    if (group.lane() == 0) replace(set, b, oldest);
  }
};

/// Makes the request of operation i, for one of the 80 keys of a set. Most of them are present.
template <class Section>
struct make_request {
  __device__ Section operator()(std::uint32_t i) const {
    std::uint64_t const key = key_of(i);
    return {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32), i}};
  }
  static constexpr unsigned keys_of_set = 80;
  WARDEN_HOST_DEVICE static std::uint64_t key_of(std::uint32_t i) {
    return key_number((bench::mix(i, 17) >> 32) * keys_of_set >> 32);
  }
  /// The k-th key of a set.
  WARDEN_HOST_DEVICE static std::uint64_t key_number(std::uint64_t k) {
    return (k + 1) * 0x9e3779b97f4a7c15ull;
  }
};

}  // namespace wide_records
