// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lanes of a warp that want one lock: one lane acquires it, and the lanes then take turns.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The lanes of a warp with the same key, as each of them sees them.
struct match_group {
  unsigned lanes;   ///< mask of the lanes
  unsigned leader;  ///< first of these lanes
  int turn;         ///< this lane's place among these lanes

  /// Returns the group of this lane's key (32 or 64 bits). Collective over the warp: a lane that
  /// wants nothing passes a key of its own.
  template <class Key>
  WARDEN_DEVICE static match_group of(Key key) {
    unsigned const lanes = simt::match_any(simt::full_warp, key);
    return {lanes, static_cast<unsigned>(simt::first_bit(lanes)), turn_among(lanes)};
  }
  /// Returns this lane's place among `lanes`.
  WARDEN_DEVICE static int turn_among(unsigned lanes) {
    return simt::count_bits(lanes & ((1u << simt::lane_id()) - 1));
  }
};

/// Runs `f` by the lanes that take part, one turn after another from turn 0 on. The writes of one
/// turn, and those acquired before, are visible to the next turn. Collective over the warp.
template <class F>
WARDEN_DEVICE void take_turns(bool takes_part, int turn_of_me, F f) {
  for (int turn = 0; simt::any(simt::full_warp, takes_part && turn_of_me >= turn); ++turn) {
    simt::sync_warp(simt::full_warp);
    if (takes_part && turn_of_me == turn) f();
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
