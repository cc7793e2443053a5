// SPDX-License-Identifier: Apache-2.0
/// @file
/// The minimum over a block of one number a thread, window after window, by one barrier each.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The minimum of one window after another, in shared memory: a word for the window at hand, one
/// that late threads still read, and one that is made ready for the next.
struct window_minimum {
  std::uint32_t words[3];  ///< by turn

  /// The turn after `turn`.
  WARDEN_DEVICE static unsigned next(unsigned turn) { return turn == 2 ? 0 : turn + 1; }

  /// Before the first window. One thread; a block barrier follows.
  WARDEN_DEVICE void start() {
    for (std::uint32_t& w : words) w = ~0u;
  }
  /// This thread's number for the window; a block barrier follows. Collective over the warp.
  WARDEN_DEVICE void note(unsigned turn, std::uint32_t number) {
    std::uint32_t const of_warp = simt::warp_min(number);
    if (simt::lane_id() == 0) simt::shared_fetch_min(words[turn], of_warp);
  }
  /// The window's minimum, behind the barrier.
  WARDEN_DEVICE std::uint32_t get(unsigned turn) const { return simt::shared_load(words[turn]); }
  /// Makes the word after next ready, behind the barrier: all have read it, and none writes it
  /// before the next barrier. One thread.
  WARDEN_DEVICE void turn_over(unsigned turn) {
    simt::shared_store(words[turn == 0 ? 2 : turn - 1], ~0u);  // mutation: window-word
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
