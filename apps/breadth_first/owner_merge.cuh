// SPDX-License-Identifier: Apache-2.0
/// @file
/// The second half of a step, after ranks have exchanged bitmaps: the bitmaps become one, and each
/// rank settles its own vertices that were found.
#pragma once

#include "apps/breadth_first/owner_queue.cuh"
#include "apps/breadth_first/visited_neighbour.cuh"

#include <cstdint>

namespace breadth_first {

/// A block's part of it.
class merging_block {
 public:
  using storage = queue_sums::storage;

  WARDEN_DEVICE merging_block(owner_state const& s, std::uint32_t step, storage& shared)
      : s_{s},
        kind_{s.control->progress[(step + 1) % 2].kind},
        level_{s.control->progress[(step + 1) % 2].level},
        seen_{s.seen_in(s.control->progress[(step + 1) % 2].side)},
        next_{s.seen_in(1 - s.control->progress[(step + 1) % 2].side)},
        parents_{s.in.neighbours, seen_},
        sums_{s, s.control->sums[step % 3], shared} {}

  /// Each thread takes a word of all ranks' bitmaps at a time.
  WARDEN_DEVICE void run() {
    if (kind_ != owner_step::down && kind_ != owner_step::up) return;
    std::uint64_t const all = s_.all_words();
    std::uint64_t const threads = std::uint64_t{simt::block_count()} * simt::block_threads();
    std::uint64_t const mine =
        std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
    // All lanes of a warp take as many.
    for (std::uint64_t first = mine - simt::lane_id(); first < all; first += threads) {
      std::uint64_t const w = first + simt::lane_id();
      std::uint32_t const found = w < all ? merge(w) : 0;
      if (kind_ == owner_step::down) settle(w, found);
    }
    sums_.add_up();
  }

 private:
  /// Returns the bits of a word that the level has set.
  WARDEN_DEVICE std::uint32_t merge(std::uint64_t w) {
    std::uint32_t merged = 0;
    for (std::uint32_t r = 0; r < s_.ranks; ++r) {
      std::uint32_t const bits = s_.gathered[r * s_.all_words() + w];  // sabotage: owner-bits
      merged |= bits;
    }
    std::uint32_t const found = merged & ~seen_[w];
    simt::store_relaxed(&next_[w], merged);
    simt::store_relaxed(&s_.sent()[w], merged);
    if (found == 0) return 0;
    auto const vertices = static_cast<std::uint32_t>(simt::count_bits(found));
    // Vertices of one word have about equally many arcs. Rounded down, so that all estimates
    // together are at most the sum.
    sums_.note(vertices, std::uint64_t{vertices} * s_.arcs_of_words[w] / 32);
    return found;
  }
  /// Gives this rank's vertices in word `w` their level, and a parent if another rank has found
  /// them; and queues them. Each lane takes its word's vertices one after the other: few are found
  /// in a word, as a level of many is searched bottom-up. Collective over the warp.
  WARDEN_DEVICE void settle(std::uint64_t w, std::uint32_t found) {
    std::uint64_t const place_of_word = w - s_.first() / 32;
    if (place_of_word >= s_.words) found = 0;
    while (simt::any(simt::full_warp, found != 0)) {
      bool const is_one = found != 0;
      std::uint32_t const at = is_one ? static_cast<std::uint32_t>(place_of_word * 32) +
                                            static_cast<std::uint32_t>(simt::first_bit(found))
                                      : 0;
      found &= found - 1;
      bool const is_others = is_one && s_.parents[at] == unreached;  // sabotage: owner-parent
      std::uint32_t const parent = parents_.in(is_others ? row_of(s_.in, at) : row{0, 0});
      if (is_others) simt::store_relaxed(&s_.parents[at], parent);
      if (is_one) simt::store_relaxed(&s_.levels[at], level_ + 1);
      sums_.queue(at, is_one);
    }
  }

  owner_state const& s_;
  owner_step kind_;      ///< of the step under way
  std::uint32_t level_;  ///< of the frontier
  std::uint32_t const* seen_;
  std::uint32_t* next_;
  visited_neighbour parents_;
  queue_sums sums_;
};

}  // namespace breadth_first
