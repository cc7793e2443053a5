// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which two parts of the records a block holds when: a pair schedule by the circle method, in
/// which every pair of parts meets once and no part plays twice in a round.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Two parts of the records, or one part twice.
struct part_pair {
  std::uint32_t a;  ///< a part
  std::uint32_t b;  ///< another one, or the same
};

/// What a part plays in a round: a tile pair of two different parts, if any.
struct tile_pair_of {
  bool plays;            ///< false: it has a bye
  std::uint32_t number;  ///< of the tile pair
  bool is_a;             ///< the part is the tile pair's `a`
};

/// The tile pairs of `parts` parts, numbered by rounds: first each part by itself, which is a round
/// of its own, then the pairs. With an odd number of parts one has a bye in each round.
///
/// The circle method: all parts but one, or all of an odd number, stand in a circle of an odd
/// number n of places. In round r those meet that stand as far to the left of place r as to the
/// right of it, and who stands there meets the one outside, or nobody.
class all_pairs_schedule {
 public:
  /// Each part has a tile pair by itself, too.
  static constexpr bool pairs_with_itself = true;

  /// The tile pairs of at least one part.
  WARDEN_HOST_DEVICE explicit constexpr all_pairs_schedule(std::uint32_t parts = 1)
      : parts_{parts}, circle_{parts % 2 == 0 ? parts - 1 : parts} {}

  /// Parts that play.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t parts() const { return parts_; }
  /// Parts that a section's first record may be in: those of the lowest numbers.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t homes() const { return parts_; }
  /// Parts that its second record may be in.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t others() const { return parts_; }
  /// Which of those a part is.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t other_of(std::uint32_t part) const {
    return part;
  }
  /// The part that is the `other`-th of those.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t part_of(std::uint32_t other) const {
    return other;
  }
  /// Tile pairs of each round in which pairs meet.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t pairs_at_once() const {
    return parts_ / 2;
  }
  /// Such rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t rounds() const {
    return parts_ == 1 ? 0 : circle_;
  }
  /// Tile pairs of all rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tile_pairs() const {
    return parts_ + rounds() * pairs_at_once();
  }

  /// Who plays tile pair `number`, below `tile_pairs()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr part_pair pair(std::uint32_t number) const {
    if (number < parts_) return {number, number};
    std::uint32_t const round = (number - parts_) / pairs_at_once();
    std::uint32_t const item = (number - parts_) % pairs_at_once();
    // Of an even number the first tile pair is that of the part outside the circle.
    std::uint32_t const away = parts_ % 2 == 0 ? item : item + 1;
    if (away == 0) return {round, parts_ - 1};
    std::uint32_t const right = round + away, left = round + circle_ - away;
    return {right < circle_ ? right : right - circle_, left < circle_ ? left : left - circle_};
  }

  /// The round in which two different parts meet.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t round_of(std::uint32_t a,
                                                                    std::uint32_t b) const {
    if (parts_ % 2 == 0 && a == parts_ - 1) return b;
    if (parts_ % 2 == 0 && b == parts_ - 1) return a;
    // As far to the left of it as to the right: its double is their sum, modulo an odd number.
    std::uint32_t const sum = a + b < circle_ ? a + b : a + b - circle_;
    return (sum % 2 == 0 ? sum : sum + circle_) / 2;
  }
  /// What `part` plays in that round, below `rounds()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr tile_pair_of tile_pair(std::uint32_t part,
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
