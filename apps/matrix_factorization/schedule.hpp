// SPDX-License-Identifier: Apache-2.0
/// @file
/// How far the steps of each epoch go.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

namespace factorization {

/// How far each step of an epoch goes.
struct step_size {
  float rate;     ///< learning rate
  float penalty;  ///< penalty of large factors, the same for both sides
};

/// Throws std::runtime_error for a step that would turn rows around rather than make them shorter:
/// it leaves `1 - rate * penalty` of each.
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

  /// Step size of an epoch, from 0 on.
  [[nodiscard]] step_size of(unsigned epoch) const {
    return {rate / (1 + decay * std::pow(static_cast<float>(epoch), 1.5f)), penalty};
  }
};

}  // namespace factorization
