// SPDX-License-Identifier: Apache-2.0
/// @file
/// The second half of a step, after ranks have exchanged bitmaps: the bitmaps become one, and each
/// rank settles its own vertices that were found.
#pragma once

#include "apps/breadth_first/owner_queue.cuh"
#include "apps/breadth_first/owner_words.cuh"
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

  /// Each lane takes a word of all ranks' bitmaps at a time: first this rank's part.
  WARDEN_DEVICE void run() {
    if (kind_ != owner_step::down && kind_ != owner_step::up) return;
    std::uint32_t const first = s_.first() / 32;
    for_words(s_.words, [&](std::uint32_t w, bool is_one) {
      found_bits const found = is_one ? merge(first + w) : found_bits{0, 0};
      if (kind_ == owner_step::down) settle(w, found);
    });
    apps::for_my_share(s_.all_words() - s_.words,
                       [&](std::uint64_t i) { merge(i < first ? i : i + s_.words); });
    sums_.add_up();
  }

 private:
  /// Vertices of one word.
  struct found_bits {
    std::uint32_t by_all;   ///< found in this step
    std::uint32_t by_this;  ///< marked by this rank
  };

  /// Writes a word of the united bitmap.
  WARDEN_DEVICE found_bits merge(std::uint64_t w) {
    std::uint32_t const by_this = s_.sent()[w];
    std::uint32_t merged = 0;
    for (std::uint32_t r = 0; r < s_.ranks; ++r) {
      std::uint32_t const bits = s_.bitmap_of(r)[w];  // mutation: owner-bits
      merged |= bits;
    }
    std::uint32_t const found = merged & ~seen_[w];
    simt::store_relaxed(&next_[w], merged);
    simt::store_relaxed(&s_.sent()[w], merged);
    if (found == 0) return {0, 0};
    auto const vertices = static_cast<std::uint32_t>(simt::count_bits(found));
    // Vertices of one word have about equally many arcs. Rounded down, so that all estimates
    // together are at most the sum.
    std::uint64_t const arcs = std::uint64_t{vertices} * s_.arcs_of_words[w] / 32;
    sums_.note(vertices, static_cast<std::uint32_t>(arcs));
    return {found, by_this};
  }
  /// Gives the vertices found in each lane's word `w` of this rank their level, and a parent if
  /// another rank has found them; and queues them. Collective over the warp.
  WARDEN_DEVICE void settle(std::uint32_t w, found_bits const& found) {
    warp_bits const bits{found.by_all};
    if (bits.count() == 0) return;
    std::uint64_t const reserved = sums_.reserve(bits.count());
    bits.for_each([&](unsigned i, bool is_one, warp_bits::bit const& bit) {
      std::uint32_t const at = simt::shuffle(simt::full_warp, w, bit.lane) * 32 + bit.number;
      std::uint32_t const by_this = simt::shuffle(simt::full_warp, found.by_this, bit.lane);
      bool const is_others = is_one && (by_this >> bit.number & 1) == 0;  // mutation: owner-parent
      std::uint32_t const parent = parent_of(at, is_others);
      if (is_others) simt::store_relaxed(&s_.parents[at], parent);
      if (is_one) simt::store_relaxed(&s_.levels[at], level_ + 1);
      sums_.queue(reserved + i, at, is_one);
    });
  }
  /// Returns a parent of the vertex at place `at` if `is_others`: another rank has found it.
  /// Collective over the warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t parent_of(std::uint32_t at, bool is_others) const {
    bool const is_hub = is_others && at < s_.hubs;
    bool const is_searched = is_others && !is_hub;  // mutation: owner-searched
    std::uint32_t const searched = parents_.in(is_searched ? row_of(s_.in, at) : row{0, 0});
    return is_hub ? sent_parent_of(at) : searched;
  }
  /// Returns the parent that another rank has sent with its bitmap. The thread of that rank that
  /// set the vertex's bit in this step has written it, before the exchange. A rank whose bit is not
  /// set has written none.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t sent_parent_of(std::uint32_t at) const {
    std::uint32_t const vertex = s_.first() + at;
    for (std::uint32_t r = 0; r < s_.ranks; ++r) {
      // Not this rank's bitmap: `merge` writes it.
      if (r == s_.rank) continue;
      bool const has_found =
          (s_.bitmap_of(r)[vertex / 32] & bit_of(vertex)) != 0;  // mutation: owner-sender
      if (has_found) return s_.hub_parents_of(r)[std::uint64_t{s_.rank} * s_.hubs + at];
    }
    return unreached;
  }

  owner_state const& s_;
  owner_step kind_;      ///< kind of the current step
  std::uint32_t level_;  ///< level of the frontier
  std::uint32_t const* seen_;
  std::uint32_t* next_;
  visited_neighbour parents_;
  queue_sums sums_;
};

}  // namespace breadth_first
