// SPDX-License-Identifier: Apache-2.0
/// @file
/// Summary of a graph: counts that show whether a file holds the expected graph.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <cstdint>

namespace graph {

/// Counts of an edge list. Of an undirected one an edge counts for both its vertices, a self-loop
/// twice.
struct summary {
  std::uint64_t self_loops = 0;      ///< edges of a vertex with itself
  std::uint64_t parallel = 0;        ///< edges between vertices that an earlier edge connects
  std::uint64_t opposite = 0;        ///< arcs of a directed graph for which one back exists
  std::uint64_t isolated = 0;        ///< vertices that no edge touches
  std::uint64_t largest_degree = 0;  ///< edges of one vertex, at most; of a directed one, both ways
  weight least_weight = 0, largest_weight = 0;  ///< 0 without weights
};

/// On one core; takes memory for another copy of the edges.
summary summarize(edge_list const& g);

}  // namespace graph
