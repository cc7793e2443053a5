// SPDX-License-Identifier: Apache-2.0
// Binary search, and search by a warp.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace sparse_product {

namespace simt = warden::simt;

/// Returns the first number from `low` on for which `is_before` is false, or `high`. Precondition:
/// if `is_before(i)` is true, it is true for all numbers from `low` to i.
template <class Predicate>
WARDEN_DEVICE std::uint32_t search(std::uint32_t low, std::uint32_t high, Predicate is_before) {
  while (low < high) {
    std::uint32_t const middle = low + (high - low) / 2;
    if (is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Returns the result of `search`. The 32 lanes of the warp probe together, so one wait for memory
/// divides the range by 32 instead of 2. Collective over the warp.
template <class Predicate>
WARDEN_DEVICE std::uint32_t search_by_warp(std::uint32_t low, std::uint32_t high,
                                           Predicate is_before) {
  while (low < high) {
    std::uint64_t const range = high - low;
    auto const probe = [&](unsigned lane) {  // the first one is `low`
      return low + static_cast<std::uint32_t>(range * lane / simt::warp_size);
    };
    auto const count = static_cast<unsigned>(
        simt::count_bits(simt::ballot(simt::full_warp, is_before(probe(simt::lane_id())))));
    if (count == 0) return low;
    // The first `count` lanes are before the place.
    std::uint32_t const first = probe(count - 1) + 1;
    if (count < simt::warp_size) high = probe(count);
    low = first;
  }
  return low;
}

}  // namespace sparse_product
