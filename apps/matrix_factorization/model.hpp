// SPDX-License-Identifier: Apache-2.0
/// @file
/// The model learned from ratings: a row of factors for each user and for each item.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"
#include "apps/support/output_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace factorization {

/// Ranks that there are.
inline constexpr unsigned ranks[] = {16, 32, 64, 128};

/// A user's rating of an item is the mean and the product of their rows.
struct model {
  unsigned rank = 0;
  float mean = 0;
  std::uint32_t users = 0, items = 0;
  std::vector<float> user_rows, item_rows;            ///< [row * rank + k]
  std::vector<std::uint32_t> user_names, item_names;  ///< as those of rating_list

  [[nodiscard]] float predicted(std::uint32_t user, std::uint32_t item) const;
  friend bool operator==(model const&, model const&) = default;
};

/// Small random rows for the users and items of a list, and its mean. Throws std::runtime_error for
/// a rank that there is not.
model first_model(rating_list const& list, unsigned rank, std::uint64_t seed);

/// The root of the mean square of what is wrong with the predictions; 0 of no ratings. By as many
/// threads as there are cores.
double rmse_of(model const& m, rating_list const& list);

/// The `most` items with the highest predictions for a user, from the highest on, without those of
/// `but`.
std::vector<std::pair<std::uint32_t, float>> recommended(model const& m, std::uint32_t user,
                                                         std::size_t most,
                                                         std::vector<std::uint32_t> const& but);

/// Writes and commits a file: a header of 64-bit words, rows, names. Throws std::runtime_error with
/// its name.
void save(model const& m, apps::output_file& file);
/// Reads it. Throws std::runtime_error with its name for one that is none, of another version, cut
/// off or damaged.
model load_model(std::string const& path);

}  // namespace factorization
