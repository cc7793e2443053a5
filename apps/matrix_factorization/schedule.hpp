// SPDX-License-Identifier: Apache-2.0
/// @file
/// Step sizes of each epoch.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

namespace factorization {

/// Size of the steps of an epoch.
struct step_size {
  float rate;     ///< learning rate
  float penalty;  ///< penalty of large factors, the same for both sides
};

/// Throws std::runtime_error for a step that would reverse rows instead of making them shorter. A
/// step multiplies each row by `1 - rate * penalty`.
inline void refuse_reversal(step_size const& size) {
  if (float const product = size.rate * size.penalty; !(product < 1)) {
    throw std::runtime_error{"factorization: the rate " + std::to_string(size.rate) +
                             " times the penalty " + std::to_string(size.penalty) + " is " +
                             std::to_string(product) + "; it is to be less than 1"};
  }
}

/// Learning rates that fall from epoch to epoch: `rate / (1 + decay * epoch^1.5)`.
struct schedule {
  float rate = 0.02f;
  float decay = 0.05f;
  float penalty = 0.03f;

  /// Returns the step size of an epoch, counted from 0.
  [[nodiscard]] step_size of(unsigned epoch) const {
    return {rate / (1 + decay * std::pow(static_cast<float>(epoch), 1.5f)), penalty};
  }
};

}  // namespace factorization
