// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pair schedule of two arrays: the order in which blocks hold a tile of one array and a tile of
/// the other. Every such pair of tiles meets once, and no tile is in two tile pairs of a round.
#pragma once

#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Tile pairs of all pairs of a tile of one array and a tile of the other, numbered by rounds. The
/// numbers of the second array's tiles follow those of the first's. No tile has a tile pair with
/// itself.
///
/// The number of rounds is the larger number of tiles, n. In a round of shift s, tile i of the
/// array with fewer tiles meets tile i + s modulo n of the other array. Two tiles of the former
/// never meet the same tile in a round, and i meets j only in the round of shift j - i. The other
/// tiles have no tile pair in the round.
///
/// If n is a power of two, as it is in runs, the shifts do not come in the order of numbers. In
/// that order, a value that sections copy from record to record would travel fast in one direction
/// only: forward to another tile in as many rounds as their numbers differ, and back in n rounds.
/// Sections that move records nearer to one another, run after run, would need several times as
/// many runs.
class two_array_schedule {
 public:
  /// False: no tile has a tile pair with itself.
  static constexpr bool pairs_with_itself = false;

  /// Constructs the schedule. Precondition: both arrays have at least one tile.
  WARDEN_HOST_DEVICE explicit constexpr two_array_schedule(std::uint32_t firsts = 1,
                                                           std::uint32_t seconds = 1)
      : firsts_{firsts}, seconds_{seconds} {}

  /// Returns the number of tiles of both arrays.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tiles() const {
    return firsts_ + seconds_;
  }
  /// Returns the number of tiles that may hold a section's first record. They have the lowest
  /// numbers.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t homes() const { return firsts_; }
  /// Returns the number of tiles that may hold a section's second record.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t others() const { return seconds_; }
  /// Returns the number of `tile` among the tiles that may hold second records.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t other_of(std::uint32_t tile) const {
    return tile - firsts_;
  }
  /// Returns the tile with the number `other` among the tiles that may hold second records.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tile_of(std::uint32_t other) const {
    return other + firsts_;
  }

  /// Returns the number of tile pairs in each round.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t pairs_at_once() const {
    return few_are_firsts() ? firsts_ : seconds_;
  }
  /// Returns the number of rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t rounds() const {
    return few_are_firsts() ? seconds_ : firsts_;
  }
  /// Returns the number of tile pairs in all rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tile_pairs() const {
    return firsts_ * seconds_;
  }

  /// Returns the tiles of tile pair `number`; `a` is of the first array. Precondition: `number` <
  /// `tile_pairs()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr two_tiles pair(std::uint32_t number) const {
    std::uint32_t const shift = swapped(number / pairs_at_once()), few = number % pairs_at_once();
    std::uint32_t const many = few + shift < rounds() ? few + shift : few + shift - rounds();
    return {few_are_firsts() ? few : many, tile_of(few_are_firsts() ? many : few)};
  }
  /// Returns the round in which a tile of the first array meets one of the second.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t round_of(std::uint32_t a,
                                                                    std::uint32_t b) const {
    std::uint32_t const few = few_are_firsts() ? a : other_of(b);
    std::uint32_t const many = few_are_firsts() ? other_of(b) : a;
    return swapped(many >= few ? many - few : many + rounds() - few);
  }
  /// Returns the tile pair of `tile` in that round. Precondition: `round` < `rounds()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr optional_pair tile_pair(std::uint32_t tile,
                                                                     std::uint32_t round) const {
    bool const is_a = tile < firsts_;
    std::uint32_t few = is_a ? tile : other_of(tile);
    std::uint32_t const shift = swapped(round);
    if (is_a != few_are_firsts()) few = few >= shift ? few - shift : few + rounds() - shift;
    return {few < pairs_at_once(), round * pairs_at_once() + few, is_a};
  }

 private:
  /// Returns the shift of a round, or the round of a shift: x has y if (2x + 1)(2y + 1) is 1 modulo
  /// 2n.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t swapped(std::uint32_t x) const {
    std::uint32_t const n = rounds(), odd = 2 * x + 1;
    if ((n & (n - 1)) != 0) return x;
    // Newton's steps: an odd number is its own inverse modulo 8, and each step doubles the bits.
    std::uint32_t inverse = odd;
    for (unsigned bits = 3; bits < 32; bits *= 2) inverse *= 2 - odd * inverse;
    return inverse / 2 & (n - 1);
  }
  /// Returns true if the first array has no more tiles than the second.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr bool few_are_firsts() const {
    return firsts_ <= seconds_;
  }

  std::uint32_t firsts_, seconds_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
