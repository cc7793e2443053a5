// SPDX-License-Identifier: Apache-2.0
// Baseline of the static table: open addressing by compare-and-swap, in buckets of one sector.
#pragma once

#include "apps/hash_table/outcome.cuh"
#include "apps/hash_table/static_layout.cuh"
#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <cmath>
#include <cstdint>

namespace hash_table_bench {

namespace simt = warden::simt;

/// Table of words of a key and a value. A key goes to the first bucket with room of a sequence by
/// double hashing. Precondition: no key is `no_key`; keys are distinct.
class open_addressing {
 public:
  static constexpr std::uint32_t no_key = 0xffffffffu;
  static constexpr unsigned slots = hash_table::static_bucket::slots;

  struct alignas(16) two_slots {
    std::uint64_t of[2];  ///< the key is the high half
  };
  struct view {
    std::uint64_t* all;
    std::uint32_t buckets;

    __device__ void insert(std::uint32_t key, std::uint32_t value) const {
      std::uint64_t const entry = std::uint64_t{key} << 32 | value;
      for (sequence at{key, buckets};; at.next(buckets)) {
        std::uint64_t* const bucket = all + std::uint64_t{at.bucket} * slots;
        bucket_words const seen = load(bucket);
        for (unsigned s = 0; s < slots; ++s) {
          if (seen.of[s] == empty && simt::compare_exchange(&bucket[s], empty, entry) == empty)
            return;
        }
      }
    }
    __device__ hash_table::finding<std::uint32_t> find(std::uint32_t key) const {
      for (sequence at{key, buckets};; at.next(buckets)) {
        bucket_words const seen = load(all + std::uint64_t{at.bucket} * slots);
        for (unsigned s = 0; s < slots; ++s) {
          if (seen.of[s] >> 32 == key) return {static_cast<std::uint32_t>(seen.of[s]), true};
        }
        // Slots fill in order.
        if (seen.of[slots - 1] == empty) return {0, false};
      }
    }

   private:
    static constexpr std::uint64_t empty = ~std::uint64_t{0};
    struct bucket_words {
      std::uint64_t of[slots];
    };
    /// Buckets of a key. Steps are shorter than the table and differ from 0.
    struct sequence {
      std::uint32_t bucket, step;
      __device__ sequence(std::uint32_t key, std::uint32_t buckets) {
        std::uint64_t const hash = bench::mix(key, 0);
        bucket = simt::multiply_high(static_cast<std::uint32_t>(hash), buckets);
        step = 1 + simt::multiply_high(static_cast<std::uint32_t>(hash >> 32), buckets - 1);
      }
      __device__ void next(std::uint32_t buckets) {
        bucket = bucket >= buckets - step ? bucket - (buckets - step) : bucket + step;
      }
    };
    __device__ static bucket_words load(std::uint64_t const* bucket) {
      auto const* const halves = reinterpret_cast<two_slots const*>(bucket);
      two_slots const a = halves[0], b = halves[1];
      return {{a.of[0], a.of[1], b.of[0], b.of[1]}};
    }
  };

  open_addressing(std::uint32_t capacity, double load)
      : buckets_{prime_of(static_cast<std::uint32_t>(std::ceil(capacity / load / slots)))},
        words_{std::size_t{buckets_} * slots} {}
  void clear_async() { words_.fill_bytes(0xff); }
  [[nodiscard]] view device_view() const { return {words_.data(), buckets_}; }

 private:
  /// Returns the least prime of at least `n`: every step then reaches all buckets.
  static std::uint32_t prime_of(std::uint32_t n) {
    auto const is_prime = [](std::uint32_t p) {
      for (std::uint32_t d = 2; std::uint64_t{d} * d <= p; ++d) {
        if (p % d == 0) return false;
      }
      return true;
    };
    n = n < 2 ? 2 : n;
    while (!is_prime(n)) ++n;
    return n;
  }

  std::uint32_t buckets_;
  warden::buffer<std::uint64_t> words_;
};

}  // namespace hash_table_bench
