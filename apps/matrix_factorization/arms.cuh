// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms of the factorization, by name: each processes all steps of an epoch on the device, one step
/// per rating.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"
#include "apps/matrix_factorization/schedule.hpp"
#include "apps/matrix_factorization/tile_pairs.hpp"

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace factorization {

/// Arm: one way to process the steps of an epoch.
class arm {
 public:
  virtual ~arm() = default;
  /// Chooses the arm's settings by measuring them, which leaves the rows unchanged. Returns a
  /// description of the settings. Blocks the host.
  virtual std::string tune() { return {}; }
  /// Enqueues an epoch.
  virtual void descend_async(step_size const& size) = 0;
  /// Enqueues an epoch in which each rating adds 1 to every element of its user's row and of its
  /// item's row.
  virtual void count_async() = 0;
  /// True if no step is lost.
  [[nodiscard]] virtual bool isolates() const { return true; }
  /// Blocks the host until all enqueued work is done. Throws its error.
  virtual void wait() = 0;
};

/// Task of an arm: ratings on the host and rows in device memory. Both outlive the arm.
struct task {
  rating_list const* train;  ///< fewer than 2^32 ratings; values that are not finite are accepted
  unsigned rank;             ///< see `ranks`
  float mean;                ///< subtracted from the ratings
  float* users;              ///< [user * rank + k]
  float* items;              ///< [item * rank + k]
};

/// Returns the names of the arms to compare.
std::vector<std::string> const& arm_names();
/// Returns the arm named `name`. Throws limit_error for an unknown name or too many ratings, and
/// cuda_error when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, task const& t,
                              std::source_location where = std::source_location::current());

/// Returns the tile pairs' sizes of the arm warden_rounds_on_chip on the current device. Throws
/// cuda_error.
tile_pair_shape shape_of_rounds(std::uint32_t users, unsigned rank);

// One translation unit for each kind of arm, because their kernels compile slowly.
std::unique_ptr<arm> make_lock_arm(task const& t);
std::unique_ptr<arm> make_hogwild_arm(task const& t);
std::unique_ptr<arm> make_deferred_arm(task const& t);
std::unique_ptr<arm> make_rounds_arm(task const& t);

/// Constructs an `Arm<Rank>` for the task's rank.
template <template <unsigned> class Arm>
std::unique_ptr<arm> make_by_rank(task const& t) {
  switch (t.rank) {
    case 16:
      return std::make_unique<Arm<16>>(t);
    case 32:
      return std::make_unique<Arm<32>>(t);
    case 64:
      return std::make_unique<Arm<64>>(t);
    default:
      return std::make_unique<Arm<128>>(t);
  }
}

}  // namespace factorization
