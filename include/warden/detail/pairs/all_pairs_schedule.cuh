// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pair schedule of one array, by the circle method: the order in which blocks hold two tiles of
/// the records. Every pair of tiles meets once, and no tile is in two tile pairs of a round.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Two tiles of the records, or one tile twice.
struct two_tiles {
  std::uint32_t a;  ///< one tile
  std::uint32_t b;  ///< another tile, or the same
};

/// Tile pair of a tile in a round, if it has one.
struct optional_pair {
  bool exists;           ///< false: the tile has no tile pair in this round
  std::uint32_t number;  ///< number of the tile pair
  bool is_a;             ///< true if the tile is the tile pair's `a`
};

/// Tile pairs of `tiles` tiles, numbered by rounds. The first round has each tile with itself, the
/// following rounds have the pairs. If the number of tiles is odd, one tile has no tile pair in
/// each of these rounds.
///
/// The circle method: all tiles but one, or all tiles of an odd number, are placed on a circle of n
/// places, n odd. In round r, two tiles meet if one is as far to the left of place r as the other
/// is to the right. The tile at place r meets the tile outside the circle, if there is one.
class all_pairs_schedule {
 public:
  /// True: each tile also has a tile pair with itself.
  static constexpr bool pairs_with_itself = true;

  /// Constructs the schedule. Precondition: `tiles` >= 1.
  WARDEN_HOST_DEVICE explicit constexpr all_pairs_schedule(std::uint32_t tiles = 1)
      : tiles_{tiles}, circle_{tiles % 2 == 0 ? tiles - 1 : tiles} {}

  /// Returns the number of tiles.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tiles() const { return tiles_; }
  /// Returns the number of tiles that may hold a section's first record. They have the lowest
  /// numbers.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t homes() const { return tiles_; }
  /// Returns the number of tiles that may hold a section's second record.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t others() const { return tiles_; }
  /// Returns the number of `tile` among the tiles that may hold second records.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t other_of(std::uint32_t tile) const {
    return tile;
  }
  /// Returns the tile with the number `other` among the tiles that may hold second records.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tile_of(std::uint32_t other) const {
    return other;
  }
  /// Returns the number of tile pairs in each round of pairs.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t pairs_at_once() const {
    return tiles_ / 2;
  }
  /// Returns the number of rounds of pairs.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t rounds() const {
    return tiles_ == 1 ? 0 : circle_;
  }
  /// Returns the number of tile pairs in all rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tile_pairs() const {
    return tiles_ + rounds() * pairs_at_once();
  }

  /// Returns the tiles of tile pair `number`. Precondition: `number` < `tile_pairs()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr two_tiles pair(std::uint32_t number) const {
    if (number < tiles_) return {number, number};
    std::uint32_t const round = (number - tiles_) / pairs_at_once();
    std::uint32_t const item = (number - tiles_) % pairs_at_once();
    // If the number of tiles is even, the first tile pair of a round has the tile outside the
    // circle.
    std::uint32_t const away = tiles_ % 2 == 0 ? item : item + 1;
    if (away == 0) return {round, tiles_ - 1};
    std::uint32_t const right = round + away, left = round + circle_ - away;
    return {right < circle_ ? right : right - circle_, left < circle_ ? left : left - circle_};
  }

  /// Returns the round in which two different tiles meet.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t round_of(std::uint32_t a,
                                                                    std::uint32_t b) const {
    if (tiles_ % 2 == 0 && a == tiles_ - 1) return b;
    if (tiles_ % 2 == 0 && b == tiles_ - 1) return a;
    // The round is as far from `a` as from `b`: its double is their sum, modulo an odd number.
    std::uint32_t const sum = a + b < circle_ ? a + b : a + b - circle_;
    return (sum % 2 == 0 ? sum : sum + circle_) / 2;
  }
  /// Returns the tile pair of `tile` in that round. Precondition: `round` < `rounds()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr optional_pair tile_pair(std::uint32_t tile,
                                                                     std::uint32_t round) const {
    bool const even = tiles_ % 2 == 0;
    std::uint32_t const first = tiles_ + round * pairs_at_once();
    if (even && tile == tiles_ - 1) return {true, first, false};
    std::uint32_t const right = tile < round ? tile + circle_ - round : tile - round;
    if (right == 0) return {even, first, true};
    bool const is_a = right <= circle_ / 2;
    std::uint32_t const away = is_a ? right : circle_ - right;
    return {true, first + away - (even ? 0 : 1), is_a};
  }

 private:
  std::uint32_t tiles_, circle_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
