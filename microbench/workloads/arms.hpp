// SPDX-License-Identifier: Apache-2.0
// Arms of workloads, by name.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace workloads {

/// One way to do the work. It owns its own memory.
struct arm {
  std::function<void()> run_async;     ///< enqueues the work on all rows
  std::function<void()> wait = [] {};  ///< waits until the work is done, and throws its error
  bool same_bits = false;              ///< true if each repetition must give the same bits
  /// Enqueues the same work on another grid, which must give the same bits, too; or empty.
  std::function<void()> run_on_other_grid = nullptr;
  double bytes = 0;  ///< least bytes that a repetition moves, if they are known
};

/// Name of an arm -> function that makes the arm.
template <class Work>
using arm_makers = std::map<std::string, arm (*)(Work&)>;

}  // namespace workloads
