// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shortest paths from one vertex of a graph to all others.
#pragma once

#include "apps/shortest_paths/distances.cuh"
#include "apps/shortest_paths/search_memory.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace shortest_paths {

/// Returns the names of the arms to compare. All find the same distances.
std::vector<std::string> const& arm_names();

/// Options of a search. Distances do not depend on them.
struct search_options {
  /// Width of a bucket, rounded down to a power of 2. 0: chosen by the weights and arcs, and
  /// changed during the search by the arcs of a step.
  std::uint64_t delta = 0;
  std::optional<unsigned> buckets = std::nullopt;  ///< 1 to most_buckets; by default the arm's
  std::optional<std::uint32_t> local_iterations = std::nullopt;  ///< by default the arm's
  bool is_wide = false;  ///< begins with distances of 64 bits
  /// Steps after which the search is given up. 0: more than any search takes.
  std::uint32_t most_steps = 0;
};

/// Finds shortest paths from any vertex of one graph.
class finder {
 public:
  /// Constructs a finder. The graph has weights and outlives the finder. Throws limit_error for a
  /// graph of 2^32 arcs or more or without weights, for an unknown arm, and for more buckets than
  /// `most_buckets`; cuda_error when memory is short.
  finder(graph::csr_view const& rows, std::string const& arm, search_options const& o = {},
         std::source_location where = std::source_location::current());
  ~finder();
  finder(finder const&) = delete;
  finder& operator=(finder const&) = delete;

  /// Finds the distances from `source`, after the work in the default stream. Blocks the host.
  /// Repeats the search with 64 bits, now and in later calls, if a distance did not fit 32. Throws
  /// limit_error for a number that is no vertex, error if the device makes no progress or the
  /// search does not end, and cuda_error.
  void find(graph::vertex source, std::source_location where = std::source_location::current());
  /// Finds the parents on these paths. Blocks the host. Precondition: `find` has returned. Throws
  /// cuda_error.
  void find_parents(std::source_location where = std::source_location::current());

  [[nodiscard]] search_facts const& facts() const { return facts_; }
  /// Returns the distances, in device memory.
  [[nodiscard]] distance_view distances() const;
  /// Returns for each vertex, in device memory, the vertex before it on a shortest path. The source
  /// is its own parent, and an unreached vertex has `graph::no_vertex`.
  [[nodiscard]] graph::vertex const* parents() const { return parents_.data(); }
  /// Returns copies on the host; an unreached vertex has `no_distance`.
  [[nodiscard]] std::vector<std::uint64_t> distances_to_host() const;
  [[nodiscard]] std::vector<graph::vertex> parents_to_host() const { return parents_.to_host(); }

 private:
  template <class Distance>
  bool search(search_memory<Distance>& memory, std::source_location where);
  void allocate(std::source_location where);

  graph::csr_view rows_;
  bool is_decoupled_;
  schedule how_;
  std::uint32_t most_steps_;
  bool is_wide_;
  graph::vertex source_ = graph::no_vertex;
  std::unique_ptr<search_memory<std::uint32_t>> narrow_;
  std::unique_ptr<search_memory<std::uint64_t>> wide_;
  warden::buffer<graph::vertex> parents_;
  search_facts facts_;
};

}  // namespace shortest_paths
