// SPDX-License-Identifier: Apache-2.0
// A maximum flow of an arm, and its errors.
#pragma once

#include "apps/max_flow/audit.cuh"
#include "apps/max_flow/device_network.cuh"
#include "apps/max_flow/flow.cuh"
#include "apps/max_flow/reference.hpp"
#include "tests/apps/edge_literals.hpp"

#include <string>

namespace test {

inline graph::edge_list network_of(std::uint64_t vertices, edge_literals const& edges,
                                   graph::terminals ends) {
  graph::edge_list g = graph_of(vertices, edges);
  g.ends = ends;
  return g;
}

/// A flow, with the network in which it was found.
struct found_flow {
  max_flow::device_network rows;
  max_flow::network net;
  max_flow::flow_finder finder;

  found_flow(graph::edge_list const& g, std::string const& arm,
             max_flow::flow_options const& o = {})
      : rows{g}, net{rows.between(*g.ends)}, finder{net, arm, o} {}

  /// Errors of the flow and the cut alone.
  [[nodiscard]] std::string own_error_text() const {
    return error_text(audit(net, finder.residual(), finder.sides()), finder.facts().value);
  }
};

/// Returns the errors of the arm's result, by itself or compared to Boost's.
inline std::string error_text_of(graph::edge_list const& g, std::string const& arm,
                                 max_flow::flow_options const& o = {}) {
  found_flow f{g, arm, o};
  f.finder.find();
  auto const wanted = max_flow::push_relabel(f.rows.rows(), *g.ends).value;
  std::string const found = f.own_error_text();
  if (f.finder.facts().overlooked != 0) return "active vertices were overlooked";
  if (!found.empty() || f.finder.facts().value == wanted) return found;
  return "a flow of " + std::to_string(f.finder.facts().value) + ", not " + std::to_string(wanted);
}

}  // namespace test
