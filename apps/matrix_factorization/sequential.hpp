// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reference of the arms: gradient descent by one host thread, rating by rating.
#pragma once

#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/ratings.hpp"
#include "apps/matrix_factorization/schedule.hpp"

#include <cstdint>
#include <vector>

namespace factorization {

/// Runs epochs by one thread, in the same order each time. The list, of fewer than 2^32 ratings,
/// outlives the object.
class sequential_descent {
 public:
  /// Uses the order of the list.
  explicit sequential_descent(rating_list const& list);
  /// Uses users in random order, and the ratings of each user in random order.
  sequential_descent(rating_list const& list, std::uint64_t seed);
  /// Runs one epoch. Throws std::runtime_error if rate times penalty is 1 or more.
  void run(model& m, step_size const& size) const;

 private:
  rating_list const& list_;
  std::vector<std::uint32_t> order_;
};

}  // namespace factorization
