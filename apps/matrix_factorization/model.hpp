// SPDX-License-Identifier: Apache-2.0
/// @file
/// Model learned from ratings: a row of factors for each user and for each item.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"
#include "apps/support/output_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace factorization {

/// Supported ranks.
inline constexpr unsigned ranks[] = {16, 32, 64, 128};

/// Model. It predicts a rating as the mean plus the product of the user's row and the item's row.
struct model {
  unsigned rank = 0;
  float mean = 0;
  std::uint32_t users = 0, items = 0;
  std::vector<float> user_rows, item_rows;            ///< [row * rank + k]
  std::vector<std::uint32_t> user_names, item_names;  ///< as in rating_list

  [[nodiscard]] float predicted(std::uint32_t user, std::uint32_t item) const;
  friend bool operator==(model const&, model const&) = default;
};

/// Returns a model with small random rows for the users and items of a list, and the list's mean.
/// Throws std::runtime_error for an unsupported rank.
model first_model(rating_list const& list, unsigned rank, std::uint64_t seed);

/// Returns the root of the mean square error of the predictions; 0 for an empty list. Uses one
/// thread per core.
double rmse_of(model const& m, rating_list const& list);

/// Returns the `most` items with the highest predictions for a user, in descending order, without
/// the items in `but`.
std::vector<std::pair<std::uint32_t, float>> recommended(model const& m, std::uint32_t user,
                                                         std::size_t most,
                                                         std::vector<std::uint32_t> const& but);

/// Writes and commits a file: a header of 64-bit words, rows, names. Throws std::runtime_error with
/// the file's name.
void save(model const& m, apps::output_file& file);
/// Reads a model's file. Throws std::runtime_error with the file's name if it is no model, has
/// another version, is cut off or is damaged.
model load_model(std::string const& path);

}  // namespace factorization
