// SPDX-License-Identifier: Apache-2.0
/// @file
/// Generated ratings with the shape of a known set. Values come from factors of low rank and noise,
/// so the best error is known.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace factorization {

/// Sizes of a generated set.
struct planted_shape {
  std::uint32_t users, items;
  std::uint64_t ratings;       ///< at least 1 per item, at most `users * items` / 2
  std::uint32_t hottest_item;  ///< ratings of the item with the most ratings; at most `users`
};

/// Returns the names of the shapes, "movielens-10m" and "netflix". A shape has the sizes and the
/// hottest item of the set of its name.
std::vector<std::string> const& planted_names();
/// Returns the shape of that name.
planted_shape planted_named(std::string const& name);

/// Rank of the factors from which ratings are planted.
inline constexpr unsigned planted_rank = 16;
/// Standard deviation of the noise that is added to a rating before it is rounded to a half.
inline constexpr float planted_noise = 0.4f;

/// Returns ratings of 0.5 to 5 in steps of 0.5; no user rates an item twice. The same seed gives
/// the same ratings. Numbers of users and items are independent of their numbers of ratings.
/// Ratings are sorted by item. Uses one thread per core. Throws std::runtime_error for an
/// impossible shape.
///
/// The k-th hottest item has `hottest_item / (1 + k/s)^2` ratings, where s makes the sum equal
/// `ratings`. With Netflix's totals this also gives Netflix's median. Numbers of ratings of users
/// are lognormal. An item's users are drawn without replacement, in proportion, by systematic
/// sampling [Madow 1949].
rating_list planted_ratings(planted_shape const& shape, std::uint64_t seed);

}  // namespace factorization
