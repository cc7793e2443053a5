// SPDX-License-Identifier: Apache-2.0
// Converts a flow and a cut of arcs to edges, and writes them.

#include "apps/max_flow/answer.hpp"

#include "apps/support/text_writer.hpp"

#include <cstddef>
#include <utility>

namespace max_flow {

answer answer_of(graph::edge_list const& g, graph::csr const& rows, std::uint64_t value,
                 std::vector<std::uint32_t> const& residual, std::vector<std::uint8_t> sides) {
  answer a;
  a.value = value;
  a.sides = std::move(sides);
  a.flow.resize(g.edges());
  for (std::size_t arc = 0; arc < residual.size(); ++arc) {
    // An edge's reverse arc has no capacity.
    if (rows.weights[arc] != 0) a.flow[rows.edges[arc]] = rows.weights[arc] - residual[arc];
  }
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    if (g.weights[e] != 0 && a.sides[g.from[e]] == 0 && a.sides[g.to[e]] != 0) a.cut.push_back(e);
  }
  return a;
}

void write_flow(apps::output_file& out, graph::edge_list const& g, answer const& a) {
  apps::text_writer to{out};
  to.line('s', a.value);
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    if (a.flow[e] != 0) to.line('f', g.name_of(g.from[e]), g.name_of(g.to[e]), a.flow[e]);
  }
  to.commit();
}

void write_cut(apps::output_file& out, graph::edge_list const& g, answer const& a) {
  apps::text_writer to{out};
  to.line('s', a.value);
  for (std::uint64_t v = 0; v < g.vertices; ++v) {
    if (a.sides[v] == 0) to.line('n', g.name_of(static_cast<graph::vertex>(v)));
  }
  for (std::uint64_t const e : a.cut)
    to.line('a', g.name_of(g.from[e]), g.name_of(g.to[e]), g.weights[e]);
  to.commit();
}

}  // namespace max_flow
