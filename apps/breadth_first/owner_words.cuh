// SPDX-License-Identifier: Apache-2.0
/// @file
/// Words of a rank's part of a bitmap, dealt out to warps, and bits of these words, dealt out to
/// lanes.
#pragma once

#include "apps/breadth_first/state.cuh"

#include <cstdint>

namespace breadth_first {

/// Calls `f(w, is_one)` by all lanes of a warp until all words below `words` have been some lane's
/// `w`. If not `is_one`, the lane has no word.
///
/// A warp takes groups of 8 words, 32 bytes of a bitmap, that lie far apart. Words of high degrees,
/// of which a level finds most vertices, lie together, and so are divided among many warps.
template <class F>
WARDEN_DEVICE void for_words(std::uint32_t words, F f) {
  constexpr unsigned group = 8;
  std::uint64_t const warps_of_block = simt::block_threads() / simt::warp_size;
  std::uint64_t const warps = simt::block_count() * warps_of_block;
  std::uint64_t const mine = simt::block_rank() * warps_of_block + simt::warp_rank();
  for (std::uint64_t first = 0; first < words; first += warps * simt::warp_size) {
    std::uint64_t const w =
        first + (simt::lane_id() / group * warps + mine) * group + simt::lane_id() % group;
    f(static_cast<std::uint32_t>(w), w < words);
  }
}

/// The set bits of 32 words, one for each lane of a warp, counted from lane 0 and bit 0 on. All
/// functions are collective over the warp.
class warp_bits {
 public:
  struct bit {
    unsigned lane;    ///< that has the word
    unsigned number;  ///< in the word
  };

  WARDEN_DEVICE explicit warp_bits(std::uint32_t word) : word_{word} {
    auto const mine = static_cast<unsigned>(simt::count_bits(word));
    // Sums over lanes, for each of the 6 bits of a lane's number.
    WARDEN_UNROLL
    for (unsigned k = 0; k < 6; ++k) {
      unsigned const lanes = simt::ballot(simt::full_warp, (mine >> k & 1) != 0);
      unsigned const lanes_before = lanes & ((1u << simt::lane_id()) - 1);
      before_ += static_cast<unsigned>(simt::count_bits(lanes_before)) << k;
      count_ += static_cast<unsigned>(simt::count_bits(lanes)) << k;
    }
  }

  [[nodiscard]] WARDEN_DEVICE unsigned count() const { return count_; }
  /// Calls `f(i, is_bit, at)` by all lanes until each bit, the i-th one, has been some lane's. If
  /// not `is_bit`, the lane has none.
  template <class F>
  WARDEN_DEVICE void for_each(F f) const {
    for (unsigned first = 0; first < count_; first += simt::warp_size) {
      unsigned const i = first + simt::lane_id();
      f(i, i < count_, at(i));
    }
  }

 private:
  /// Returns the i-th bit; any bit if `i` is not below `count_`.
  [[nodiscard]] WARDEN_DEVICE bit at(unsigned i) const {
    // The last lane that at most i bits come before.
    unsigned lane = 0;
    WARDEN_UNROLL
    for (unsigned step = simt::warp_size / 2; step != 0; step /= 2) {
      if (simt::shuffle(simt::full_warp, before_, lane + step) <= i) lane += step;
    }
    std::uint32_t word = simt::shuffle(simt::full_warp, word_, lane);
    unsigned left = i - simt::shuffle(simt::full_warp, before_, lane);
    unsigned number = 0;
    WARDEN_UNROLL
    for (unsigned width = 16; width != 0; width /= 2) {
      auto const low = static_cast<unsigned>(simt::count_bits(word & ((1u << width) - 1)));
      if (left < low) continue;
      left -= low;
      word >>= width;
      number += width;
    }
    return {lane, number};
  }

  std::uint32_t word_;   ///< word of this lane
  unsigned before_ = 0;  ///< bits in the words of the lanes before
  unsigned count_ = 0;   ///< bits in all words
};

}  // namespace breadth_first
