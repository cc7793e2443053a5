// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ways to make the steps of an epoch on the device, by name. All make one for each rating.
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

/// One way.
class arm {
 public:
  virtual ~arm() = default;
  /// Chooses its settings by trying, which leaves the rows as they are, and says what it chose;
  /// blocks the host.
  virtual std::string tune() { return {}; }
  /// An epoch; enqueued.
  virtual void descend_async(step_size const& size) = 0;
  /// An epoch in which each rating adds 1 to every element of its user's row and of its item's;
  /// enqueued.
  virtual void count_async() = 0;
  /// True if no step is lost.
  [[nodiscard]] virtual bool isolates() const { return true; }
  /// Blocks the host until all is done. Throws what went wrong.
  virtual void wait() = 0;
};

/// The task of an arm: ratings, on the host, and rows in device memory, which outlive it.
struct task {
  rating_list const* train;  ///< fewer than 2^32 ratings; what is not finite is not refused
  unsigned rank;             ///< see `ranks`
  float mean;                ///< is taken off the ratings
  float* users;              ///< [user * rank + k]
  float* items;              ///< [item * rank + k]
};

/// The arms to compare.
std::vector<std::string> const& arm_names();
/// The arm of that name. Throws limit_error for an unknown one, or too many ratings, and cuda_error
/// when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, task const& t,
                              std::source_location where = std::source_location::current());

/// The tile pairs of the arm warden_rounds_on_chip on the current device. Throws cuda_error.
tile_pair_shape shape_of_rounds(std::uint32_t users, unsigned rank);

// One translation unit for each kind: their kernels take long enough to compile.
std::unique_ptr<arm> make_lock_arm(task const& t);
std::unique_ptr<arm> make_hogwild_arm(task const& t);
std::unique_ptr<arm> make_deferred_arm(task const& t);
std::unique_ptr<arm> make_rounds_arm(task const& t);

/// An `Arm<Rank>` for the task's rank.
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
