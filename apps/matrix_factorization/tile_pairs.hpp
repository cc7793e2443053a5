// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ratings sorted for rounds, and who does what when in each tile pair: planned once, played in
/// every epoch.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace factorization {

/// A rating as the workers of a tile pair read it: the user's place in the part, how many of the
/// tile pair's ratings of that user come before it, and how many of its batch come behind it.
struct placed_rating {
  static constexpr unsigned place_bits = 12, turn_bits = 18;
  static constexpr std::uint32_t most_places = 1u << place_bits;
  static constexpr std::uint32_t most_turns = 1u
                                              << turn_bits;  ///< ratings of a user in a tile pair
  /// Ratings of a batch, at most: what a worker does in one step.
  static constexpr std::uint32_t most_of_batch = 4;
  std::uint32_t bits;  ///< place, turn, ratings behind: from the lowest on
  float value;

  static constexpr placed_rating of(std::uint32_t place, std::uint32_t turn, std::uint32_t behind,
                                    float value) {
    return {place | turn << place_bits | behind << (place_bits + turn_bits), value};
  }
};
/// Its place, ...
constexpr std::uint32_t place_of(std::uint32_t bits) { return bits % placed_rating::most_places; }
/// ... its turn ...
constexpr std::uint32_t turn_of(std::uint32_t bits) {
  return (bits >> placed_rating::place_bits) % placed_rating::most_turns;
}
/// ... and the ratings of its batch behind it.
constexpr std::uint32_t behind(std::uint32_t bits) {
  return bits >> (placed_rating::place_bits + placed_rating::turn_bits);
}
/// Neighbouring ratings of one item, up to where the next run begins.
struct item_run {
  std::uint32_t begin;  ///< among all ratings
  std::uint32_t item;
};

/// How ratings are cut into tile pairs.
struct tile_pair_shape {
  std::uint32_t part_size;   ///< users of a part, at most; placed_rating::most_places at most
  std::uint32_t item_parts;  ///< from 1 on
  std::uint32_t workers;     ///< that play a tile pair together, from 1 on
};

/// Ratings by tile pairs. A tile pair is that of a part of the users and a part of the items. Each
/// of its workers has some of the items for himself, one after another; of each user's ratings in
/// the tile pair it is said in which order they come.
///
/// Each part of the users plays with each of the items, in as many steps: a Latin square, so that
/// no two of `item_parts` neighbouring parts of users meet one part of the items in a step.
struct tile_pair_plan {
  tile_pair_shape shape{};
  std::uint32_t user_parts = 0;        ///< a multiple of `item_parts`; the last may have no users
  std::vector<std::uint32_t> user_of;  ///< [part * part_size + place], or no_user
  /// [step] how far from a part of the users that of the items is which it meets. In random order:
  /// in that of numbers, what one part of the users learns would come to another by way of any item
  /// in as many steps as their numbers differ, and back in an epoch.
  std::vector<std::uint32_t> shifts;
  /// [(part of users * item_parts + step) * workers + worker] the first of his runs.
  std::vector<std::uint32_t> begins;
  std::vector<item_run> runs;  ///< and one behind
  /// [as the first of his runs] how many of a worker's first ratings wait for nobody: full batches
  /// of his first item, in which each rating is its user's first of the tile pair.
  std::vector<std::uint32_t> frees;
  std::vector<placed_rating> ratings;

  static constexpr std::uint32_t no_user = ~0u;
  [[nodiscard]] std::size_t tile_pairs() const {
    return std::size_t{user_parts} * shape.item_parts;
  }
  /// The part of the items that a part of the users meets in that step.
  [[nodiscard]] std::uint32_t item_part(std::size_t user_part, std::uint32_t step) const {
    return static_cast<std::uint32_t>((user_part + shifts[step]) % shape.item_parts);
  }
};

/// Plans tile pairs of fewer than 2^32 ratings, with `offset` taken off their values. Users are
/// dealt to parts such that these have about as many ratings, and so are items. Within a tile pair
/// it is a list schedule: in each step each worker takes the next ratings of his item, a batch, of
/// different users whom nobody else has in this step; who is through takes the item that has most
/// ratings among those left. So nobody waits long in a tile pair, and nobody for ever: in the order
/// of steps everything can be played.
///
/// The item that has most ratings in the tile pair is what the tile pair takes, so its worker waits
/// for nobody: a user who has a rating of that item left is nobody else's. As he goes faster for
/// it, he takes several batches in a step.
///
/// By as many threads as there are cores. Throws std::runtime_error if a user has more than
/// placed_rating::most_turns ratings of a part of the items.
tile_pair_plan plan_tile_pairs(rating_list const& list, tile_pair_shape const& shape, float offset);

}  // namespace factorization
