// SPDX-License-Identifier: Apache-2.0
/// @file
/// Search of a whole warp for the place where a condition becomes true.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the first number from `low` to `high` for which `test` is true, by 32 tests at a time.
/// Precondition: `test` is true for `high`, and for all numbers after one for which it is true.
/// Collective over the warp, with the same arguments.
template <class Test>
WARDEN_DEVICE std::uint32_t first_true(std::uint32_t low, std::uint32_t high, Test const& test) {
  while (low < high) {
    std::uint32_t const step = (high - low - 1) / simt::warp_size + 1;
    std::uint64_t const at = low + std::uint64_t{simt::lane_id()} * step;
    unsigned const found =
        simt::ballot(simt::full_warp, at >= high || test(static_cast<std::uint32_t>(at)));
    std::uint32_t const false_ones =
        found == 0 ? simt::warp_size : static_cast<std::uint32_t>(simt::first_bit(found));
    if (false_ones == 0) return low;
    std::uint64_t const next = low + std::uint64_t{false_ones} * step;
    low += (false_ones - 1) * step + 1;
    if (next < high) high = static_cast<std::uint32_t>(next);
  }
  return low;
}

}  // namespace detail
WARDEN_NAMESPACE_END
