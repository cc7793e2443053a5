// SPDX-License-Identifier: Apache-2.0
// Kruskal's algorithm and the check. Both use disjoint sets.

#include "apps/spanning_forest/kruskal.hpp"

#include <boost/pending/disjoint_sets.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace spanning_forest {

namespace {

/// Disjoint sets of vertices.
class components {
 public:
  explicit components(std::uint64_t vertices) : rank_(vertices), parent_(vertices) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  /// Joins two vertices. Returns false if they were joined before.
  bool join(graph::vertex a, graph::vertex b) {
    graph::vertex const x = sets_.find_set(a), y = sets_.find_set(b);
    if (x == y) return false;
    sets_.link(x, y);
    return true;
  }

 private:
  std::vector<unsigned char> rank_;
  std::vector<graph::vertex> parent_;
  boost::disjoint_sets<unsigned char*, graph::vertex*> sets_{rank_.data(), parent_.data()};
};

std::uint64_t weight_of(graph::edge_list const& g, std::size_t edge) {
  return g.is_weighted() ? g.weights[edge] : 1;
}

}  // namespace

forest_facts kruskal(graph::edge_list const& g) {
  std::vector<std::uint32_t> order(g.edges());
  std::iota(order.begin(), order.end(), 0u);
  if (g.is_weighted()) {
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return g.weights[a] != g.weights[b] ? g.weights[a] < g.weights[b] : a < b;
    });
  }
  components joined{g.vertices};
  forest_facts found;
  for (std::uint32_t const e : order) {
    if (!joined.join(g.from[e], g.to[e])) continue;
    ++found.edges;
    found.weight += weight_of(g, e);
  }
  return found;
}

std::string error_text(graph::edge_list const& g, std::span<std::uint32_t const> edges,
                       forest_facts const& wanted) {
  if (edges.size() != wanted.edges) {
    return std::to_string(edges.size()) + " edges, not " + std::to_string(wanted.edges);
  }
  components joined{g.vertices};
  std::uint64_t weight = 0;
  for (std::uint32_t const e : edges) {
    if (e >= g.edges()) {
      return "edge " + std::to_string(e) + " of " + std::to_string(g.edges());
    }
    if (!joined.join(g.from[e], g.to[e])) {
      return "edge " + std::to_string(e) + " closes a cycle";
    }
    weight += weight_of(g, e);
  }
  if (weight == wanted.weight) return {};
  return "a weight of " + std::to_string(weight) + ", not " + std::to_string(wanted.weight);
}

}  // namespace spanning_forest
