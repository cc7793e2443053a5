// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which two parts of the records a block holds when: a tournament by the circle method, in which
/// every pair of parts meets once and no part plays twice in a round.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Two parts of the records, or one part twice.
struct part_pair {
  std::uint32_t a;  ///< a part
  std::uint32_t b;  ///< another one, or the same
};

/// The games of `parts` parts, numbered by rounds: first each part by itself, which is a round of
/// its own, then the pairs. With an odd number of parts one has a bye in each round.
///
/// The circle method: all parts but one, or all of an odd number, stand in a circle of an odd
/// number n of places. In round r those meet that stand as far to the left of place r as to the
/// right of it, and who stands there meets the one outside, or nobody.
class tournament {
 public:
  /// Of at least one part.
  WARDEN_HOST_DEVICE explicit constexpr tournament(std::uint32_t parts)
      : parts_{parts}, circle_{parts % 2 == 0 ? parts - 1 : parts} {}

  /// Games of each round in which pairs meet.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t pairs_at_once() const {
    return parts_ / 2;
  }
  /// Such rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t rounds() const {
    return parts_ == 1 ? 0 : circle_;
  }
  /// Games of all rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t games() const {
    return parts_ + rounds() * pairs_at_once();
  }

  /// Who plays game `number`, below `games()`. Walks: games that follow one another are found
  /// without a division.
  class walk {
   public:
    /// At game `number`, or at the end.
    WARDEN_HOST_DEVICE constexpr walk(tournament const& of, std::uint32_t number)
        : of_{of}, item_{number} {
      if (number < of.parts_ || of.rounds() == 0) return;
      solo_ = false;
      round_ = (number - of.parts_) / of.pairs_at_once();
      item_ = (number - of.parts_) % of.pairs_at_once();
    }
    /// Who plays.
    [[nodiscard]] WARDEN_HOST_DEVICE constexpr part_pair pair() const {
      if (solo_) return {item_, item_};
      // Of an even number the first game is that of the part outside the circle.
      std::uint32_t const away = of_.parts_ % 2 == 0 ? item_ : item_ + 1;
      if (away == 0) return {round_, of_.parts_ - 1};
      std::uint32_t const n = of_.circle_;
      std::uint32_t const right = round_ + away, left = round_ + n - away;
      return {right < n ? right : right - n, left < n ? left : left - n};
    }
    /// On to the next game.
    WARDEN_HOST_DEVICE constexpr void next() {
      if (++item_ != (solo_ ? of_.parts_ : of_.pairs_at_once())) return;
      if (!solo_) ++round_;
      solo_ = false;
      item_ = 0;
    }

   private:
    tournament const& of_;
    std::uint32_t round_ = 0, item_;
    bool solo_ = true;
  };

  /// The game of two different parts in round `round`, if `part` plays then, and whether it is the
  /// walk's `a`.
  struct game_of {
    bool plays;            ///< false: it has a bye
    std::uint32_t number;  ///< of the game
    bool is_a;             ///< `part` is the game's `a`
  };
  /// What `part` plays in that round, below `rounds()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr game_of game(std::uint32_t part,
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

WARDEN_NAMESPACE_END
