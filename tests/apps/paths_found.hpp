// SPDX-License-Identifier: Apache-2.0
// Shortest paths in small graphs, and their errors.
#pragma once

#include "apps/graph/device_csr.cuh"
#include "apps/shortest_paths/audit.cuh"
#include "apps/shortest_paths/finder.cuh"
#include "apps/shortest_paths/reference.hpp"
#include "tests/apps/edge_literals.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace test {

/// A graph's rows on both sides, for any number of searches.
class paths_found {
 public:
  paths_found(graph::edge_list const& g, std::string const& arm,
              shortest_paths::search_options const& o = {})
      : host_{build_csr(g, {which(g)})},
        rows_{build_csr(to_device(g), {which(g)})},
        finder{rows_.view(), arm, o} {}

  /// Returns the errors of a search from `source`; empty if there are none.
  std::string error_text_from(graph::vertex source) {
    finder.find(source);
    finder.find_parents();
    auto const found =
        shortest_paths::audit(rows_.view(), source, finder.distances(), finder.parents());
    std::string const wrong = shortest_paths::error_text(found);
    if (!wrong.empty()) return wrong;
    if (finder.distances_to_host() != shortest_paths::distances_from(host_, source))
      return "the audit passed distances that are not Dijkstra's";
    return {};
  }

 private:
  static graph::arcs_of which(graph::edge_list const& g) {
    return g.directed ? graph::arcs_of::directed : graph::arcs_of::undirected;
  }

  graph::csr host_;
  graph::device_csr rows_;

 public:
  shortest_paths::finder finder;
};

}  // namespace test
