// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms of the search, by name. All find the same levels.
#pragma once

#include "apps/breadth_first/state.cuh"

#include <warden/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace breadth_first {

/// Arm: one way to search.
class arm {
 public:
  virtual ~arm() = default;
  /// Enqueues a search in the default stream, or runs it. Precondition: the control is zeroed in
  /// that stream. Throws errors that occur before it returns.
  virtual void search(search_state const& s, std::uint32_t source) = 0;
};

/// Returns the number of blocks of `search_threads` threads that are resident together. Throws
/// cuda_error.
unsigned search_blocks(warden::runtime::kernel const& kernel, std::size_t shared_bytes);

/// Returns the names of the arms to compare.
std::vector<std::string> const& arm_names();
/// Returns true if an arm needs the incoming arcs of vertices.
bool looks_back(std::string const& name);
/// Returns true if an arm queues every vertex once. Its queues are never full.
bool is_exact(std::string const& name);
/// Returns the arm named `name`. Throws limit_error for an unknown name, cuda_error when memory is
/// short.
std::unique_ptr<arm> make_arm(std::string const& name, search_state const& s,
                              std::source_location where = std::source_location::current());

// Several translation units, because their kernels compile slowly.
std::unique_ptr<arm> make_gather_arm(std::string const& name);
std::unique_ptr<arm> make_cull_arm(std::string const& name);
std::unique_ptr<arm> make_queue_arm(std::string const& name);
std::unique_ptr<arm> make_warden_arm(search_state const& s);

}  // namespace breadth_first
