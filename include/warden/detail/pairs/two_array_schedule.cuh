// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which part of one array and which part of another a block holds when: by a Latin square, in
/// which every pair of such parts meets once and no part plays twice in a round.
#pragma once

#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The tile pairs of all pairs of a part of the one array and a part of the other, numbered by
/// rounds. Parts of the second array have the numbers behind those of the first; no part plays by
/// itself.
///
/// There are as many rounds as the larger number of parts, n. In a round of shift s the part i of
/// the array with fewer parts meets the part i + s modulo n of the other one: two parts of the
/// former never meet the same one in a round, and i meets j in the round of shift j - i alone. The
/// other parts have a bye.
///
/// Shifts do not come in the order of numbers, if n is a power of two, as it is in runs. They would
/// let what a section finds on one record, and leaves on the other, travel one way only: from part
/// to part in as many rounds as their numbers differ, and back in n; sections that bring records
/// nearer to one another, run after run, would take several times as many runs.
class two_array_schedule {
 public:
  /// No part has a tile pair by itself.
  static constexpr bool pairs_with_itself = false;

  /// The tile pairs of arrays of at least one part each.
  WARDEN_HOST_DEVICE explicit constexpr two_array_schedule(std::uint32_t firsts = 1,
                                                           std::uint32_t seconds = 1)
      : firsts_{firsts}, seconds_{seconds} {}

  /// Parts that play.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t parts() const {
    return firsts_ + seconds_;
  }
  /// Parts that a section's first record may be in: those of the lowest numbers.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t homes() const { return firsts_; }
  /// Parts that its second record may be in.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t others() const { return seconds_; }
  /// Which of those a part is.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t other_of(std::uint32_t part) const {
    return part - firsts_;
  }
  /// The part that is the `other`-th of those.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t part_of(std::uint32_t other) const {
    return other + firsts_;
  }

  /// Tile pairs of each round.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t pairs_at_once() const {
    return few_are_firsts() ? firsts_ : seconds_;
  }
  /// Rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t rounds() const {
    return few_are_firsts() ? seconds_ : firsts_;
  }
  /// Tile pairs of all rounds.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t tile_pairs() const {
    return firsts_ * seconds_;
  }

  /// Who plays tile pair `number`, below `tile_pairs()`; `a` is of the first array.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr part_pair pair(std::uint32_t number) const {
    std::uint32_t const shift = swapped(number / pairs_at_once()), few = number % pairs_at_once();
    std::uint32_t const many = few + shift < rounds() ? few + shift : few + shift - rounds();
    return {few_are_firsts() ? few : many, part_of(few_are_firsts() ? many : few)};
  }
  /// The round in which a part of the first array meets one of the second.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t round_of(std::uint32_t a,
                                                                    std::uint32_t b) const {
    std::uint32_t const few = few_are_firsts() ? a : other_of(b);
    std::uint32_t const many = few_are_firsts() ? other_of(b) : a;
    return swapped(many >= few ? many - few : many + rounds() - few);
  }
  /// What `part` plays in that round, below `rounds()`.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr tile_pair_of tile_pair(std::uint32_t part,
                                                                    std::uint32_t round) const {
    bool const is_a = part < firsts_;
    std::uint32_t few = is_a ? part : other_of(part);
    std::uint32_t const shift = swapped(round);
    if (is_a != few_are_firsts()) few = few >= shift ? few - shift : few + rounds() - shift;
    return {few < pairs_at_once(), round * pairs_at_once() + few, is_a};
  }

 private:
  /// The shift of a round, and the round of a shift: x has y where (2x + 1)(2y + 1) is 1 modulo 2n.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint32_t swapped(std::uint32_t x) const {
    std::uint32_t const n = rounds(), odd = 2 * x + 1;
    if ((n & (n - 1)) != 0) return x;
    // Newton's steps: an odd number is its own inverse modulo 8, and each step doubles the bits.
    std::uint32_t inverse = odd;
    for (unsigned bits = 3; bits < 32; bits *= 2) inverse *= 2 - odd * inverse;
    return inverse / 2 & (n - 1);
  }
  /// Whether the first array has no more parts than the second.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr bool few_are_firsts() const {
    return firsts_ <= seconds_;
  }

  std::uint32_t firsts_, seconds_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
