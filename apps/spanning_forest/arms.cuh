// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ways in which components hear of their candidates, by name. All else is the same for all.
#pragma once

#include "apps/spanning_forest/candidates.cuh"

#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace spanning_forest {

/// One way.
class arm {
 public:
  virtual ~arm() = default;
  /// Chooses its settings by trials on an iteration, which change the components, and returns them
  /// as text; blocks the host.
  virtual std::string tune(offers const&) { return {}; }
  /// Offers all; enqueued.
  virtual void offer_async(offers const& all) = 0;
  /// Blocks the host until all are done. Throws what went wrong.
  virtual void wait() = 0;
};

/// The arms to compare.
std::vector<std::string> const& arm_names();
/// The largest iteration that an arm is made for: components in device memory, which outlive it.
struct largest_iteration {
  component* components;
  std::uint32_t size;        ///< components
  std::uint32_t candidates;  ///< offered to two components each
};

/// The arm of that name. Throws limit_error for an unknown one, cuda_error when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, largest_iteration const& most,
                              std::source_location where = std::source_location::current());

// One translation unit for each kind: their kernels take long enough to compile.
std::unique_ptr<arm> make_lock_arm(std::string const& name, largest_iteration const& most);
std::unique_ptr<arm> make_warden_arm(std::string const& name, largest_iteration const& most);

}  // namespace spanning_forest
