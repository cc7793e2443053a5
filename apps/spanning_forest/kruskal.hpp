// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kruskal's forest, by one thread of the host: the reference of all arms.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace spanning_forest {

/// Common properties of all minimum spanning forests of a graph.
struct forest_facts {
  std::uint64_t edges = 0;
  std::uint64_t weight = 0;  ///< sum of the edges' weights
  friend bool operator==(forest_facts const&, forest_facts const&) = default;
};

/// Returns the properties of a forest by Kruskal's algorithm.
forest_facts kruskal(graph::edge_list const& g);

/// Returns the errors of `edges`, numbers of the graph's edges, as a minimum spanning forest with
/// the properties `wanted`; empty if there are none. Checks their number, that they are different,
/// their total weight, and that they have no cycle.
std::string error_text(graph::edge_list const& g, std::span<std::uint32_t const> edges,
                       forest_facts const& wanted);

}  // namespace spanning_forest
