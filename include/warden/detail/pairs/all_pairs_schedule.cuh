// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pair schedule of one array, by the circle method: the order in which blocks hold two parts of
/// the records. Every pair of parts meets once, and no part is in two tile pairs of a round.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Two parts of the records, or one part twice.
struct part_pair {
  std::uint32_t a;  ///< one part
  std::uint32_t b;  ///< another part, or the same
};

/// Tile pair of a part in a round, if it has one.
struct part_tile_pair {
  bool exists;           ///< false: the part has no tile pair in this round
  std::uint32_t number;  ///< number of the tile pair
  bool is_a;             ///< true if the part is the tile pair's `a`
};

/// Tile pairs of `parts` parts, numbered by rounds. The first round has each part with itself, the
/// following rounds have the pairs. If the number of parts is odd, one part has no tile pair in
/// each of these rounds.
///
/// The circle method: all parts but one, or all parts of an odd number, are placed on a circle of n
/// places, n odd. In round r, two parts meet if one is as far to the left of place r as the other
/// is to the right. The part at place r meets the part outside the circle, if there is one.
class all_pairs_schedule {
 public:
  /// True: each part also has a tile pair with itself.
  static constexpr bool pairs_with_itself = true;

  /// Constructs the schedule. Precondition: `parts` >= 1.
  WARDEN_HOST_DEVICE explicit constexpr all_pairs_schedule(std::uint32_t parts = 1)
      : parts_{parts}, circle_{parts % 2 == 0 ? parts - 1 : parts} {}

  /// Returns the number of parts.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t parts() const { return parts_; }
  /// Returns the number of parts that may hold a section's first record. They have the lowest
  /// numbers.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t homes() const { return parts_; }
  /// Returns the number of parts that may hold a section's second record.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t others() const { return parts_; }
  /// Returns the number of `part` among the parts that may hold second records.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t other_of(std::uint32_t part) const {
    return part;
  }
  /// Returns the part with the number `other` among the parts that may hold second records.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t part_of(std::uint32_t other) const {
    return other;
  }
  /// Returns the number of tile pairs in each round of pairs.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t pairs_at_once() const {
    return parts_ / 2;
  }
  /// Returns the number of rounds of pairs.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t rounds() const {
    return parts_ == 1 ? 0 : circle_;
  }
  /// Returns the number of tile pairs in all rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tile_pairs() const {
    return parts_ + rounds() * pairs_at_once();
  }

  /// Returns the parts of tile pair `number`. Precondition: `number` < `tile_pairs()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr part_pair pair(std::uint32_t number) const {
    if (number < parts_) return {number, number};
    std::uint32_t const round = (number - parts_) / pairs_at_once();
    std::uint32_t const item = (number - parts_) % pairs_at_once();
    // If the number of parts is even, the first tile pair of a round has the part outside the
    // circle.
    std::uint32_t const away = parts_ % 2 == 0 ? item : item + 1;
    if (away == 0) return {round, parts_ - 1};
    std::uint32_t const right = round + away, left = round + circle_ - away;
    return {right < circle_ ? right : right - circle_, left < circle_ ? left : left - circle_};
  }

  /// Returns the round in which two different parts meet.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t round_of(std::uint32_t a,
                                                                    std::uint32_t b) const {
    if (parts_ % 2 == 0 && a == parts_ - 1) return b;
    if (parts_ % 2 == 0 && b == parts_ - 1) return a;
    // The round is as far from `a` as from `b`: its double is their sum, modulo an odd number.
    std::uint32_t const sum = a + b < circle_ ? a + b : a + b - circle_;
    return (sum % 2 == 0 ? sum : sum + circle_) / 2;
  }
  /// Returns the tile pair of `part` in that round. Precondition: `round` < `rounds()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr part_tile_pair tile_pair(std::uint32_t part,
                                                                      std::uint32_t round) const {
    bool const even = parts_ % 2 == 0;
    std::uint32_t const first = parts_ + round * pairs_at_once();
    if (even && part == parts_ - 1) return {true, first, false};
    std::uint32_t const right = part < round ? part + circle_ - round : part - round;
    if (right == 0) return {even, first, true};
    bool const is_a = right <= circle_ / 2;
    std::uint32_t const away = is_a ? right : circle_ - right;
    return {true, first + away - (even ? 0 : 1), is_a};
  }

 private:
  std::uint32_t parts_, circle_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
