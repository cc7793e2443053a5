// SPDX-License-Identifier: Apache-2.0
/// @file
/// Index of a log's rows that the lanes of a warp hold: maps each of the warp's messages to its
/// row.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The rows that a warp reads together, one for each lane, in their order. Rows without messages
/// come last.
struct warp_row_index {
  /// Value of `before` in a lane that has no row: more than any number of messages, and no
  /// message's number reaches it within 32 steps.
  static constexpr std::uint32_t nowhere = 0x7fffffff;

  std::uint32_t before;  ///< messages in the rows before this lane's, or `nowhere`
  std::uint32_t place;   ///< place of the row's first message, less the places of those before it

  /// Keeps only the rows of the lanes in `having`, which have messages. Collective over the warp.
  WARDEN_DEVICE void close_up(unsigned having) {
    if ((having & (having + 1)) != 0) {  // mutation: rows-empty
      // Finds the lane that has lane_id() lanes of `having` before it, by a search in their bits.
      unsigned from = 0;
      WARDEN_UNROLL
      for (unsigned step = simt::warp_size / 2; step != 0; step /= 2) {
        unsigned const below = (1u << (from + step)) - 1;
        if (static_cast<unsigned>(simt::count_bits(having & below)) <= simt::lane_id())
          from += step;
      }
      before = simt::shuffle(simt::full_warp, before, from);
      place = simt::shuffle(simt::full_warp, place, from);
    }
    if (simt::lane_id() >= static_cast<unsigned>(simt::count_bits(having))) before = nowhere;
  }

  /// Finds the `place` of the row of each message: `found[k]` is that of message `first` + 32 k +
  /// lane. It is meaningless for a message that is in none of the rows. `first` may be before the
  /// first message, as a negative number. Each row marks its first message, and the marks up to a
  /// message are counted. Collective over the warp.
  template <unsigned PerThread>
  WARDEN_DEVICE void find(std::uint32_t first, std::uint32_t (&found)[PerThread]) const {
    constexpr unsigned last = simt::warp_size - 1;
    unsigned const up_to_mine = ~0u >> (last - simt::lane_id());
    bool const is_begun = static_cast<std::int32_t>(before) < static_cast<std::int32_t>(first);
    auto begun = static_cast<unsigned>(simt::count_bits(simt::ballot(simt::full_warp, is_begun)));
    WARDEN_UNROLL
    for (unsigned k = 0; k < PerThread; ++k) {
      std::uint32_t const offset = before - (first + k * simt::warp_size);
      unsigned const marks = simt::warp_sum(offset <= last ? 1u << offset : 0);
      auto const up_to = static_cast<unsigned>(simt::count_bits(marks & up_to_mine));
      found[k] = simt::shuffle(simt::full_warp, place, (begun + up_to - 1) & last);
      begun += static_cast<unsigned>(simt::count_bits(marks));  // mutation: rows-marked
    }
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
