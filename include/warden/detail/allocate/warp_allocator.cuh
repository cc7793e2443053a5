// SPDX-License-Identifier: Apache-2.0
/// @file
/// Allocates places for lanes of a warp, in any control flow.
#pragma once

#include <warden/detail/allocate/allocation_control.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Returns the first of `count` places for the calling lane. Places of the lanes of `mask` are
/// consecutive, in the order of lanes, and one atomic takes them all. Collective over the lanes of
/// `mask`, independent of the other lanes, in blocks of any dimensions. `counter`, in device
/// memory, is the same in all lanes.
WARDEN_DEVICE std::uint64_t allocate_in_warp(std::uint64_t* counter, unsigned mask,
                                             std::uint64_t count) {
  unsigned const lane = simt::lane_id();
  // Scan over the lanes of the mask by doubling: `source` is the next earlier lane that `sum` does
  // not contain.
  unsigned const earlier = mask & ((1u << lane) - 1);
  unsigned const lanes = static_cast<unsigned>(simt::count_bits(mask));
  unsigned const rank = static_cast<unsigned>(simt::count_bits(earlier));
  unsigned source = earlier == 0 ? lane : static_cast<unsigned>(simt::last_bit(earlier));
  std::uint64_t const mine = detail::summand_of(count);
  std::uint64_t sum = mine;
  for (unsigned distance = 1; distance < lanes; distance *= 2) {
    std::uint64_t const before = simt::shuffle(mask, sum, source);
    unsigned const farther = simt::shuffle(mask, source, source);
    if (rank >= distance) sum += before;
    source = farther;
  }
  auto const last = static_cast<unsigned>(simt::last_bit(mask));
  std::uint64_t first = 0;
  if (lane == last) first = detail::checked_places(counter, detail::take_places(counter, sum), sum);
  return simt::shuffle(mask, first, last) + sum - mine;
}

WARDEN_NAMESPACE_END
