// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pair schedule of two arrays: the order in which blocks hold a part of one array and a part of
/// the other. Every such pair of parts meets once, and no part is in two tile pairs of a round.
#pragma once

#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Tile pairs of all pairs of a part of one array and a part of the other, numbered by rounds. The
/// numbers of the second array's parts follow those of the first's. No part has a tile pair with
/// itself.
///
/// The number of rounds is the larger number of parts, n. In a round of shift s, part i of the
/// array with fewer parts meets part i + s modulo n of the other array. Two parts of the former
/// never meet the same part in a round, and i meets j only in the round of shift j - i. The other
/// parts have no tile pair in the round.
///
/// If n is a power of two, as it is in runs, the shifts do not come in the order of numbers. In
/// that order, a value that sections copy from record to record would travel fast in one direction
/// only: forward to another part in as many rounds as their numbers differ, and back in n rounds.
/// Sections that move records nearer to one another, run after run, would need several times as
/// many runs.
class two_array_schedule {
 public:
  /// False: no part has a tile pair with itself.
  static constexpr bool pairs_with_itself = false;

  /// Constructs the schedule. Precondition: both arrays have at least one part.
  WARDEN_HOST_DEVICE explicit constexpr two_array_schedule(std::uint32_t firsts = 1,
                                                           std::uint32_t seconds = 1)
      : firsts_{firsts}, seconds_{seconds} {}

  /// Returns the number of parts of both arrays.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t parts() const {
    return firsts_ + seconds_;
  }
  /// Returns the number of parts that may hold a section's first record. They have the lowest
  /// numbers.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t homes() const { return firsts_; }
  /// Returns the number of parts that may hold a section's second record.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t others() const { return seconds_; }
  /// Returns the number of `part` among the parts that may hold second records.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t other_of(std::uint32_t part) const {
    return part - firsts_;
  }
  /// Returns the part with the number `other` among the parts that may hold second records.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t part_of(std::uint32_t other) const {
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

  /// Returns the parts of tile pair `number`; `a` is of the first array. Precondition: `number` <
  /// `tile_pairs()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr part_pair pair(std::uint32_t number) const {
    std::uint32_t const shift = swapped(number / pairs_at_once()), few = number % pairs_at_once();
    std::uint32_t const many = few + shift < rounds() ? few + shift : few + shift - rounds();
    return {few_are_firsts() ? few : many, part_of(few_are_firsts() ? many : few)};
  }
  /// Returns the round in which a part of the first array meets one of the second.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t round_of(std::uint32_t a,
                                                                    std::uint32_t b) const {
    std::uint32_t const few = few_are_firsts() ? a : other_of(b);
    std::uint32_t const many = few_are_firsts() ? other_of(b) : a;
    return swapped(many >= few ? many - few : many + rounds() - few);
  }
  /// Returns the tile pair of `part` in that round. Precondition: `round` < `rounds()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr part_tile_pair tile_pair(std::uint32_t part,
                                                                      std::uint32_t round) const {
    bool const is_a = part < firsts_;
    std::uint32_t few = is_a ? part : other_of(part);
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
  /// Returns true if the first array has no more parts than the second.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr bool few_are_firsts() const {
    return firsts_ <= seconds_;
  }

  std::uint32_t firsts_, seconds_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
