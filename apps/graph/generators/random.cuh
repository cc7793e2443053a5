// SPDX-License-Identifier: Apache-2.0
/// @file
/// Random numbers by position: any thread of any machine computes the same numbers for an edge.
#pragma once

#include <warden/simt/annotations.cuh>

#include <cstdint>

namespace graph {

/// SplitMix64 (Steele, Lea and Flood, 2014), whose n-th number is computed without the others.
class random_numbers {
 public:
  /// Number of random numbers of each item.
  static constexpr std::uint32_t numbers_an_item = 64;

  explicit random_numbers(std::uint64_t seed) : first_{mixed(seed)} {}

  /// Returns number `which` of `item`: 64 bits.
  WARDEN_HOST_DEVICE std::uint64_t bits(std::uint64_t item, std::uint32_t which) const {
    return mixed(first_ + step * (item * numbers_an_item + which + 1));
  }
  /// Returns a number from 0 to `n` - 1. Precondition: `n` is from 1 to 2^32.
  WARDEN_HOST_DEVICE std::uint32_t below(std::uint64_t n, std::uint64_t item,
                                         std::uint32_t which) const {
    std::uint64_t const b = bits(item, which);
    // The upper half of the 128-bit product; n has 33 bits at most.
    return static_cast<std::uint32_t>(((b >> 32) * n + ((b & 0xffffffff) * n >> 32)) >> 32);
  }

  /// The output function of SplitMix64, a bijection.
  WARDEN_HOST_DEVICE static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15ull;
  std::uint64_t first_;
};

/// The numbers from 0 to n - 1 in a random order, each computed independently: a bijection of the
/// next power of two, applied until the result is below n (cycle walking).
class random_order {
 public:
  /// Precondition: `n` is from 1 to 2^63.
  WARDEN_HOST_DEVICE random_order(std::uint64_t n, std::uint64_t seed) : n_{n}, seed_{seed} {
    while (std::uint64_t{1} << bits_ < n) ++bits_;
  }
  /// Returns the number at place `x`, which is below n.
  WARDEN_HOST_DEVICE std::uint64_t operator()(std::uint64_t x) const {
    if (bits_ == 0) return x;
    do {
      x = permuted(x);
    } while (x >= n_);
    return x;
  }

 private:
  /// Returns a permutation of `bits_` bits, made of invertible steps.
  WARDEN_HOST_DEVICE std::uint64_t permuted(std::uint64_t x) const {
    std::uint64_t const mask = (std::uint64_t{1} << bits_) - 1;
    for (std::uint64_t round = 1; round <= 4; ++round) {
      std::uint64_t const key = random_numbers::mixed(seed_ + round);
      x = (x * (key | 1) + (key >> 32)) & mask;
      x ^= x >> (bits_ + 1) / 2;
    }
    return x;
  }

  std::uint64_t n_, seed_;
  unsigned bits_ = 0;
};

}  // namespace graph
