// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lanes of a warp that want one lock: one of them tries for it, and under it they take turns.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The lanes of a warp with the same key, as each of them sees it.
struct match_group {
  unsigned lanes;   ///< a mask
  unsigned leader;  ///< the first of them
  int turn;         ///< this lane's place among them

  /// The group of this lane's key (32 or 64 bits). Collective over the warp: a lane that wants
  /// nothing has a key of its own.
  template <class Key>
  WARDEN_DEVICE static match_group of(Key key) {
    unsigned const lanes = simt::match_any(simt::full_warp, key);
    return {lanes, static_cast<unsigned>(simt::first_bit(lanes)), turn_among(lanes)};
  }
  /// This lane's place among `lanes`.
  WARDEN_DEVICE static int turn_among(unsigned lanes) {
    return simt::count_bits(lanes & ((1u << simt::lane_id()) - 1));
  }
};

/// The lanes that take part run `f`, those of turn 0 first. What one turn wrote, and what was
/// acquired before, is visible to the next. Collective over the warp.
template <class F>
WARDEN_DEVICE void take_turns(bool takes_part, int turn_of_me, F f) {
  for (int turn = 0; simt::any(simt::full_warp, takes_part && turn_of_me >= turn); ++turn) {
    simt::sync_warp(simt::full_warp);
    if (takes_part && turn_of_me == turn) f();
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
