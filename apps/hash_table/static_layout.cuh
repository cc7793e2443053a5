// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory and hashes of a static table, and the search for a key in it.
#pragma once

#include "apps/hash_table/outcome.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace hash_table {

/// Bucket of a static table: one memory sector. Its keys are distinct and come first. A bucket with
/// room repeats its first key to the end; an empty one holds a key that no search looks for there.
/// A value is next to its key, so a search loads both at once: by the time that the keys are
/// compared, other searches may have evicted the sector from the level-1 cache.
struct static_bucket {
  static constexpr unsigned slots = 4;
  struct alignas(16) half {
    std::uint32_t of[slots];  ///< a key, its value, a key, its value
  };
  half halves[2];

  __device__ std::uint32_t& key(unsigned s) { return halves[s / 2].of[s % 2 * 2]; }
  __device__ std::uint32_t& value(unsigned s) { return halves[s / 2].of[s % 2 * 2 + 1]; }
  __device__ static static_bucket load(static_bucket const& from) {
    half const a = from.halves[0], b = from.halves[1];
    return {{a, b}};
  }
};
static_assert(sizeof(static_bucket) == 32);

/// Consecutive buckets that one block builds. All buckets of a key are in one region.
struct alignas(8) static_region {
  std::uint32_t first;    ///< its first bucket
  std::uint32_t buckets;  ///< number of buckets
};

/// Hashes of one seed: a key's region, and its three buckets there.
struct static_hash {
  static constexpr unsigned choices = 3;
  std::uint32_t seed;

  /// Returns different numbers for different keys.
  __device__ std::uint32_t mixed(std::uint32_t key) const {
    std::uint32_t x = key ^ seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
  }
  __device__ static std::uint32_t region(std::uint32_t mixed, std::uint32_t regions) {
    return simt::multiply_high(mixed, regions);
  }
  /// Returns choice `j` of `buckets`. The keys of a region share the high bits of `mixed`, so the
  /// other bits are moved up.
  __device__ static std::uint32_t bucket(std::uint32_t mixed, unsigned j, std::uint32_t buckets) {
    std::uint32_t x = (mixed + j * 0x9e3779b9u) * 0x9e3779b1u;
    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    return simt::multiply_high(x ^ (x >> 16), buckets);
  }
};

/// Device view of a static table.
struct static_view {
  static_bucket const* buckets;
  static_region const* plan;
  std::uint32_t regions;
  static_hash hash;

  /// Searches for a key. Reads one sector for a key in its first bucket, three at most.
  __device__ finding<std::uint32_t> find(std::uint32_t key) const {
    std::uint32_t const mixed = hash.mixed(key);
    static_region const r = plan[static_hash::region(mixed, regions)];
    WARDEN_UNROLL
    for (unsigned j = 0; j < static_hash::choices; ++j) {
      static_bucket b =
          static_bucket::load(buckets[r.first + static_hash::bucket(mixed, j, r.buckets)]);
      WARDEN_UNROLL
      for (unsigned s = 0; s < static_bucket::slots; ++s) {
        if (b.key(s) == key) return {b.value(s), true};
      }
      // A key goes on to its next bucket only if this one is full.
      if (b.key(static_bucket::slots - 1) == b.key(0)) break;
    }
    return {0, false};
  }
};

}  // namespace hash_table
