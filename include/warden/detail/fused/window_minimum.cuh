// SPDX-License-Identifier: Apache-2.0
/// @file
/// Minimum over a block of one number of each thread, window after window, by one barrier each.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Minimum of one window after another, in shared memory. One word is for the current window, one
/// may still be read by late threads, and one is prepared for the next window.
struct window_minimum {
  std::uint32_t words[3];  ///< one for each turn

  /// Returns the turn after `turn`.
  WARDEN_DEVICE static unsigned next(unsigned turn) { return turn == 2 ? 0 : turn + 1; }

  /// Initializes the words before the first window. Called by one thread; a block barrier follows.
  WARDEN_DEVICE void start() {
    for (std::uint32_t& w : words) w = ~0u;
  }
  /// Adds this thread's number of the window; a block barrier follows. Collective over the warp.
  WARDEN_DEVICE void note(unsigned turn, std::uint32_t number) {
    std::uint32_t const warp_minimum = simt::warp_min(number);
    if (simt::lane_id() == 0) simt::shared_fetch_min(words[turn], warp_minimum);
  }
  /// Returns the window's minimum. Called after the barrier.
  WARDEN_DEVICE std::uint32_t get(unsigned turn) const { return simt::shared_load(words[turn]); }
  /// Prepares the word of the turn before. Called by one thread after the barrier: all threads have
  /// read that word, and none writes it before the next barrier.
  WARDEN_DEVICE void turn_over(unsigned turn) {
    simt::shared_store(words[turn == 0 ? 2 : turn - 1], ~0u);  // mutation: window-word
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
