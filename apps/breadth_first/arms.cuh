// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ways to search, by name. All mark the same levels.
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

/// One way.
class arm {
 public:
  virtual ~arm() = default;
  /// Enqueues a search in the default stream, where the control has been zeroed, or does it. Throws
  /// what goes wrong until then.
  virtual void search(search_state const& s, std::uint32_t source) = 0;
};

/// Blocks of a kernel of `search_threads` threads: as many as the device holds together. Throws
/// cuda_error.
unsigned search_blocks(warden::runtime::kernel const& kernel, std::size_t shared_bytes);

/// The arms to compare.
std::vector<std::string> const& arm_names();
/// True if an arm needs the incoming arcs of a vertex.
bool looks_back(std::string const& name);
/// True if an arm queues every vertex once: a queue is then never full.
bool is_exact(std::string const& name);
/// The arm of that name. Throws limit_error for an unknown one, cuda_error when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, search_state const& s,
                              std::source_location where = std::source_location::current());

// Some translation units: their kernels take long enough to compile.
std::unique_ptr<arm> make_gather_arm(std::string const& name);
std::unique_ptr<arm> make_cull_arm(std::string const& name);
std::unique_ptr<arm> make_queue_arm(std::string const& name);
std::unique_ptr<arm> make_warden_arm(search_state const& s);

}  // namespace breadth_first
