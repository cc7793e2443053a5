// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ratings that are made: of the shape of a known set, with values from factors of low rank and
/// some noise, so that it is known what can be learned from them.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace factorization {

/// How many there are of what.
struct planted_shape {
  std::uint32_t users, items;
  std::uint64_t ratings;       ///< at least one an item, at most `users * items` / 2
  std::uint32_t hottest_item;  ///< ratings of the item that has most; `users` at most
};

/// "movielens-10m" and "netflix": sizes and hottest item of the sets of these names.
std::vector<std::string> const& planted_names();
/// The shape of such a name.
planted_shape planted_named(std::string const& name);

/// Rank of the factors from which ratings are planted.
inline constexpr unsigned planted_rank = 16;
/// The standard deviation of what is added to a user's liking for an item; the rounding to halves
/// comes on top.
inline constexpr float planted_noise = 0.4f;

/// Makes ratings of 0.5 to 5 by halves, no user rating an item twice; the same for the same seed.
/// Numbers of users and items are independent of their numbers of ratings. Ratings are sorted by
/// item. Uses as many threads as there are cores. Throws std::runtime_error for an impossible
/// shape.
///
/// The k-th hottest item has `hottest_item / (1 + k/s)^2` ratings, with s such that they add up:
/// with Netflix's totals that gives Netflix's median as well. Numbers of ratings of users are
/// lognormal; an item's users are drawn without replacement, in proportion, by systematic sampling
/// [Madow 1949].
rating_list planted_ratings(planted_shape const& shape, std::uint64_t seed);

}  // namespace factorization
