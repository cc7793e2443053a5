// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places for lanes of a warp, in any control flow.
#pragma once

#include <warden/detail/allocate/allocation_control.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// The first of `count` places for the calling lane: those of the lanes of `mask` follow one
/// another, in the order of lanes, and one atomic takes them all. Collective over the lanes of
/// `mask`, wherever the others of the warp are, in blocks of any dimensions; `counter`, in device
/// memory, is the same in all.
WARDEN_DEVICE std::uint64_t allocate_in_warp(std::uint64_t* counter, unsigned mask,
                                             std::uint64_t count) {
  unsigned const lane = simt::lane_id();
  // The lane of the mask before, twice as far back with each step: `sum` covers those between.
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
  if (lane == last) first = detail::take_places(counter, sum);
  return simt::shuffle(mask, first, last) + sum - mine;
}

WARDEN_NAMESPACE_END
