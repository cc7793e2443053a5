// SPDX-License-Identifier: Apache-2.0
/// @file
/// The reference of the arms: gradient descent by one thread of the host, rating by rating.
#pragma once

#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/ratings.hpp"
#include "apps/matrix_factorization/schedule.hpp"

#include <cstdint>
#include <vector>

namespace factorization {

/// Epochs of one thread, in the same order each. The list, of fewer than 2^32 ratings, outlives it.
class sequential_descent {
 public:
  /// In the order of the list.
  explicit sequential_descent(rating_list const& list);
  /// Users in a random order, the ratings of each in a random order.
  sequential_descent(rating_list const& list, std::uint64_t seed);
  /// One epoch. Throws std::runtime_error for a rate times penalty of 1 or more.
  void run(model& m, step_size const& size) const;

 private:
  rating_list const& list_;
  std::vector<std::uint32_t> order_;
};

}  // namespace factorization
