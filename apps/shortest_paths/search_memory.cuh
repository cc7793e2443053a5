// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory and kernels of searches with one type of distances.
#pragma once

#include "apps/shortest_paths/state.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

namespace shortest_paths {

/// Facts of a search.
struct search_facts {
  unsigned bits = 0;             ///< bits of a distance: 32 or 64
  bool is_second = false;        ///< true if a search with 32 bits was repeated with 64
  std::uint32_t steps = 0;       ///< barriers of the grid; `decoupled`: changes of the first bucket
  std::uint32_t expansions = 0;  ///< steps that followed arcs; `decoupled`: assignments to workers
  std::uint32_t refills = 0;     ///< steps that looked for the next buckets
  std::uint64_t places = 0;      ///< places queued; `decoupled`: entries of the worklist
  std::uint64_t arcs = 0;        ///< arcs of these; arcs of a block's own vertices do not count
  std::uint64_t delta = 0;       ///< width of the last bucket; 0: all distances
};

/// Result of a search whose distances are in device memory.
struct search_outcome {
  bool too_far = false;  ///< true if a distance did not fit its type
  std::string failure;   ///< empty if the search ended
  search_facts facts;
};

/// Memory and kernels of searches of one graph.
template <class Distance>
class search_memory {
 public:
  explicit search_memory(graph::csr_view const& rows) : distances_{rows.vertices} {}
  virtual ~search_memory() = default;
  search_memory(search_memory const&) = delete;
  search_memory& operator=(search_memory const&) = delete;

  /// Searches from `source`. Blocks the host. Throws cuda_error.
  virtual search_outcome search(graph::vertex source) = 0;
  [[nodiscard]] warden::buffer<Distance> const& distances() const { return distances_; }

 private:
  warden::buffer<Distance> distances_;
};

/// Returns memory for searches by steps. Throws cuda_error when memory is short.
template <class Distance>
std::unique_ptr<search_memory<Distance>> make_step_search(graph::csr_view const& rows,
                                                          schedule const& how,
                                                          std::uint32_t most_steps);
/// Returns memory for searches by a decoupled worklist. Throws limit_error for a graph of 2^31
/// vertices or more, or if only one block is resident; cuda_error when memory is short.
template <class Distance>
std::unique_ptr<search_memory<Distance>> make_worklist_search(graph::csr_view const& rows,
                                                              schedule const& how,
                                                              std::source_location where);

}  // namespace shortest_paths
