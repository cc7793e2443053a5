// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lists of ratings: user, item and value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace factorization {

/// Ratings in no particular order, as three arrays of one length.
struct rating_list {
  std::uint32_t users = 0;          ///< numbered from 0 on
  std::uint32_t items = 0;          ///< numbered from 0 on
  std::vector<std::uint32_t> user;  ///< [rating] below `users`
  std::vector<std::uint32_t> item;  ///< [rating] below `items`
  std::vector<float> value;         ///< [rating] finite
  /// [user] and [item]: names in the file, ascending; empty if the names are the numbers.
  std::vector<std::uint32_t> user_names, item_names;

  [[nodiscard]] std::size_t size() const { return value.size(); }
  [[nodiscard]] std::uint32_t user_name(std::uint32_t u) const {
    return user_names.empty() ? u : user_names[u];
  }
  [[nodiscard]] std::uint32_t item_name(std::uint32_t i) const {
    return item_names.empty() ? i : item_names[i];
  }
  void add(std::uint32_t u, std::uint32_t i, float v) {
    user.push_back(u);
    item.push_back(i);
    value.push_back(v);
  }
};

/// Returns the mean value; 0 for an empty list.
double mean_of(rating_list const& list);

/// Ratings for training and for testing.
struct split_ratings {
  rating_list train, test;
};
/// Moves each rating to the test list with probability `share`, from 0 to 1, which depends on its
/// index and `seed`. Names stay with the training list.
split_ratings split(rating_list all, double share, std::uint64_t seed);

/// One rating of a list.
struct plain_rating {
  std::uint32_t user, item;
  float value;
};
/// Returns all ratings of a list, with `offset` subtracted from their values. Neighbours in the
/// list are far apart in the result, because lists are sorted by user or by item and steps in that
/// order learn slowly.
std::vector<plain_rating> scattered(rating_list const& list, float offset);

}  // namespace factorization
