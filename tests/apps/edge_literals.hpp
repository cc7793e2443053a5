// SPDX-License-Identifier: Apache-2.0
// Graphs as literals.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace test {

/// From, to, weight.
using edge_literals = std::vector<std::array<graph::vertex, 3>>;

inline graph::edge_list graph_of(std::uint64_t vertices, edge_literals const& edges) {
  graph::edge_list g;
  g.vertices = vertices;
  for (auto const& [from, to, weight] : edges) {
    g.from.push_back(from);
    g.to.push_back(to);
    g.weights.push_back(weight);
  }
  return g;
}

}  // namespace test
