// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gradient descent on the device: the rows, their epochs by an arm, and their error.
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
  /// Begins with the rows of `first`. Both lists have the users and items of `first` and outlive
  /// the object. Throws as make_arm.
  descent(model const& first, rating_list const& train, rating_list const& test,
          std::string const& arm);

  /// Lets the arm choose its settings; blocks the host.
  std::string tune();
  /// Runs one epoch; blocks the host. Throws its error, and std::runtime_error if rate times
  /// penalty is 1 or more.
  warden::measurement run(step_size const& size);
  /// Returns the root of the mean square error on `test`; blocks the host.
  double rmse();
  /// Replaces the rows by those of `from`, which has as many.
  void reset(model const& from);
  /// Copies the rows to `to`.
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
