// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gradient descent on the device: rows there, epochs by an arm, and what they are worth.
#pragma once

#include "apps/matrix_factorization/arms.cuh"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/ratings.hpp"
#include "apps/matrix_factorization/schedule.hpp"

#include <warden/buffer.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace factorization {

/// Rows in device memory, learned by one arm.
class descent {
 public:
  /// From the rows of `first`. Both lists, of its users and items, outlive it. Throws as make_arm.
  descent(model const& first, rating_list const& train, rating_list const& test,
          std::string const& arm);

  /// Lets the arm choose its settings; blocks the host.
  std::string tune();
  /// One epoch; blocks the host. Throws what went wrong, and std::runtime_error for a rate times
  /// penalty of 1 or more.
  warden::measurement run(step_size const& size);
  /// The root of the mean square error on `test`; blocks the host.
  double rmse();
  /// Back to the rows of `from`, which has as many.
  void reset(model const& from);
  /// The rows as they are, into `to`.
  void copy_to(model& to) const;
  /// Lets each rating add 1 to both of its rows, and returns the number of row elements that lack
  /// any. 32-bit floats count the ratings of one row exactly. The rows are lost.
  std::uint64_t lost();
  /// True if the arm promises that no step is lost.
  [[nodiscard]] bool isolates() const { return arm_->isolates(); }

 private:
  std::uint64_t wrong_counts(warden::buffer<float> const& rows,
                             std::vector<std::uint32_t> const& ids, std::uint32_t count) const;

  unsigned rank_;
  float mean_;
  rating_list const& train_;
  warden::buffer<float> users_, items_;
  warden::buffer<std::uint32_t> test_user_, test_item_;
  warden::buffer<float> test_value_;
  warden::buffer<double> sums_;
  std::unique_ptr<arm> arm_;
};

}  // namespace factorization
