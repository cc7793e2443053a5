// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines the partials of a warp's lanes that have the same record.
#pragma once

#include <warden/detail/bulk/partial_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Role of a lane after its warp has combined equal lanes.
struct equal_lanes {
  bool is_first;  ///< true if the lane holds the combined partial of all lanes with its key
  bool repeats;   ///< true for this lane if other lanes have its key
};

/// Combines the words of lanes with equal keys in a tree over these lanes. Collective over the
/// warp: a lane without a partial passes a key of its own.
template <class Partial>
WARDEN_DEVICE equal_lanes combine_equal(std::uint32_t key, partial_words<Partial>& words) {
  unsigned const lane = simt::lane_id();
  unsigned const equal = simt::match_any(simt::full_warp, key);
  unsigned rank = static_cast<unsigned>(simt::count_bits(equal & ((1u << lane) - 1)));
  equal_lanes const role{rank == 0, (equal & (equal - 1)) != 0};
  // Lanes above this one whose partials are not combined yet. In each step a lane of odd rank gives
  // its partial to the lane before it.
  unsigned left = equal & ~((2u << lane) - 1);
  while (simt::any(simt::full_warp, left != 0)) {
    int const next = simt::first_bit(left);
    unsigned const source = next < 0 ? lane : static_cast<unsigned>(next);
    partial_words<Partial> other;
    WARDEN_UNROLL
    for (unsigned w = 0; w < words.count; ++w)
      other.at[w] = simt::shuffle(simt::full_warp, words.at[w], source);
    if (next >= 0) combine_into(words, other);  // mutation: bulk-equal
    left &= ~simt::ballot(simt::full_warp, (rank & 1u) != 0);
    rank >>= 1;
  }
  return role;
}

}  // namespace detail
WARDEN_NAMESPACE_END
