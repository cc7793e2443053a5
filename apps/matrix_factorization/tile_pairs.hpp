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
  /// Largest number of ratings of a batch. A worker processes a batch in one step.
  static constexpr std::uint32_t most_of_batch = 4;
  std::uint32_t bits;  ///< from the lowest bit on: place, turn, later ratings of the batch
  float value;

  static constexpr placed_rating of(std::uint32_t place, std::uint32_t turn,
                                    std::uint32_t later_ratings, float value) {
    return {place | turn << place_bits | later_ratings << (place_bits + turn_bits), value};
  }
};
/// Returns the place.
constexpr std::uint32_t place_of(std::uint32_t bits) { return bits % placed_rating::most_places; }
/// Returns the turn.
constexpr std::uint32_t turn_of(std::uint32_t bits) {
  return (bits >> placed_rating::place_bits) % placed_rating::most_turns;
}
/// Returns the number of later ratings of its batch.
constexpr std::uint32_t later_ratings(std::uint32_t bits) {
  return bits >> (placed_rating::place_bits + placed_rating::turn_bits);
}
/// Consecutive ratings of one item. They end at the begin of the next run.
struct item_run {
  std::uint32_t begin;  ///< among all ratings
  std::uint32_t item;
};

/// Sizes of tile pairs.
struct tile_pair_shape {
  std::uint32_t
      part_size;  ///< largest number of users of a part; at most placed_rating::most_places
  std::uint32_t item_parts;  ///< at least 1
  std::uint32_t workers;     ///< workers that process a tile pair together; at least 1
};

/// Ratings by tile pairs. A tile pair is a part of the users and a part of the items. Each of its
/// workers has some of the items exclusively, one after another; the plan orders each user's
/// ratings in the tile pair.
///
/// Each part of the users meets each part of the items once, in as many steps as there are parts of
/// items. No two of `item_parts` neighbouring parts of users meet one part of the items in the same
/// step.
struct tile_pair_plan {
  tile_pair_shape shape{};
  std::uint32_t user_parts = 0;        ///< a multiple of `item_parts`; the last may have no users
  std::vector<std::uint32_t> user_of;  ///< [part * part_size + place], or no_user
  /// [step] number of the part of the items less that of the part of the users, modulo
  /// `item_parts`. In random order. In ascending order, all items of a part of the users would
  /// reach another part after the same number of steps, the difference of their numbers.
  std::vector<std::uint32_t> shifts;
  /// [(part of users * item_parts + step) * workers + worker] the worker's first run.
  std::vector<std::uint32_t> begins;
  std::vector<item_run> runs;  ///< and one more
  /// [index as in `begins`] number of a worker's first ratings that need not wait: full batches of
  /// its first item, in which each rating is the first of its user in the tile pair.
  std::vector<std::uint32_t> frees;
  std::vector<placed_rating> ratings;

  static constexpr std::uint32_t no_user = ~0u;
  [[nodiscard]] std::size_t tile_pairs() const {
    return std::size_t{user_parts} * shape.item_parts;
  }
  /// Returns the part of the items that a part of the users meets in a step.
  [[nodiscard]] std::uint32_t item_part(std::size_t user_part, std::uint32_t step) const {
    return static_cast<std::uint32_t>((user_part + shifts[step]) % shape.item_parts);
  }
};

/// Plans tile pairs of fewer than 2^32 ratings, with `offset` subtracted from their values. Users
/// are dealt to parts with about equal numbers of ratings, and so are items. Within a tile pair
/// this is a list schedule: in each step each worker takes a batch of its item's next ratings, of
/// different users that no other worker has in this step. A worker that is done takes the item with
/// the most ratings among those left. So waits are short, and no worker waits forever: all ratings
/// can be processed in the order of steps.
///
/// The item with the most ratings takes longest, so its worker never waits: no other worker takes a
/// rating of a user that has a rating of that item left. This worker is therefore faster and takes
/// several batches in a step.
///
/// Uses as many threads as there are cores. Throws std::runtime_error if a user has more than
/// placed_rating::most_turns ratings of a part of the items.
tile_pair_plan plan_tile_pairs(rating_list const& list, tile_pair_shape const& shape, float offset);

}  // namespace factorization
