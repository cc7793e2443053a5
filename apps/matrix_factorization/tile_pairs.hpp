// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ratings sorted for rounds, and the order of work in each tile pair: planned once, used in
/// every epoch.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace factorization {

/// A rating as the workers of a tile pair read it: the user's place in the part, the number of the
/// tile pair's ratings of that user before it, and the number of ratings of its batch after it.
struct placed_rating {
  static constexpr unsigned place_bits = 12, turn_bits = 18;
  static constexpr std::uint32_t most_places = 1u << place_bits;
  static constexpr std::uint32_t most_turns = 1u
                                              << turn_bits;  ///< ratings of a user in a tile pair
  /// Ratings of a batch, at most: what a worker does in one step.
  static constexpr std::uint32_t most_of_batch = 4;
  std::uint32_t bits;  ///< from the lowest bit on: place, turn, later ratings of the batch
  float value;

  static constexpr placed_rating of(std::uint32_t place, std::uint32_t turn,
                                    std::uint32_t later_ratings, float value) {
    return {place | turn << place_bits | later_ratings << (place_bits + turn_bits), value};
  }
};
/// Its place, ...
constexpr std::uint32_t place_of(std::uint32_t bits) { return bits % placed_rating::most_places; }
/// ... its turn ...
constexpr std::uint32_t turn_of(std::uint32_t bits) {
  return (bits >> placed_rating::place_bits) % placed_rating::most_turns;
}
/// ... and the number of ratings of its batch after it.
constexpr std::uint32_t later_ratings(std::uint32_t bits) {
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
/// of its workers has some of the items for himself, one after another; the plan orders each user's
/// ratings in the tile pair.
///
/// Each part of the users meets each part of the items once, in as many steps as there are parts of
/// items. No two of `item_parts` neighbouring parts of users meet one part of the items in the same
/// step.
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
  std::vector<item_run> runs;  ///< and one more
  /// [as the first of his runs] the number of a worker's first ratings that need not wait: full
  /// batches of his first item, in which each rating is its user's first of the tile pair.
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

/// Plans tile pairs of fewer than 2^32 ratings, with `offset` subtracted from their values. Users
/// are dealt to parts with about equal numbers of ratings, and so are items. Within a tile pair
/// this is a list schedule: in each step each worker takes the next ratings of his item, a batch,
/// of different users that no other worker has in this step. A worker that is done takes the item
/// with the most ratings among those left. So no worker waits long, and none forever: all ratings
/// can be processed in the order of steps.
///
/// The item with the most ratings takes longest, so its worker never waits: a user who has a rating
/// of that item left is not given to any other worker. Because he is faster for it, he takes
/// several batches in a step.
///
/// Uses as many threads as there are cores. Throws std::runtime_error if a user has more than
/// placed_rating::most_turns ratings of a part of the items.
tile_pair_plan plan_tile_pairs(rating_list const& list, tile_pair_shape const& shape, float offset);

}  // namespace factorization
