// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms that offer candidates to components, by name. All other steps are the same for all arms.
#pragma once

#include "apps/spanning_forest/candidates.cuh"

#include <cstddef>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace spanning_forest {

/// Arm: one way to offer candidates.
class arm {
 public:
  virtual ~arm() = default;
  /// True if the arm has settings to choose.
  [[nodiscard]] virtual bool tunes() const { return false; }
  /// Chooses the settings of one iteration by measuring them on its offers, which changes the
  /// components. Returns a description of the settings. Blocks the host.
  virtual std::string tune([[maybe_unused]] std::size_t iteration, offers const&) { return {}; }
  /// Offers all candidates of an iteration; enqueued.
  virtual void offer_async(std::size_t iteration, offers const& all) = 0;
  /// Blocks the host until all offers are done. Throws their error.
  virtual void wait() = 0;
};

/// Returns the names of the arms to compare.
std::vector<std::string> const& arm_names();
/// Largest iteration of an arm. Its components are in device memory and outlive the arm.
struct largest_iteration {
  component* components;
  std::uint32_t size;        ///< components
  std::uint32_t candidates;  ///< each is offered to two components
};

/// Returns the arm named `name`. Throws limit_error for an unknown name, cuda_error when memory is
/// short.
std::unique_ptr<arm> make_arm(std::string const& name, largest_iteration const& most,
                              std::source_location where = std::source_location::current());

// One translation unit for each kind of arm, because their kernels compile slowly.
std::unique_ptr<arm> make_lock_arm(std::string const& name, largest_iteration const& most);
std::unique_ptr<arm> make_warden_arm(std::string const& name, largest_iteration const& most);

}  // namespace spanning_forest
