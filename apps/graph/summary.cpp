// SPDX-License-Identifier: Apache-2.0
// Counting by rows of sorted neighbours.

#include "apps/graph/summary.hpp"

#include "apps/graph/csr.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace graph {

namespace {

/// Returns the arcs of a list, sorted by their end in each row.
csr sorted_rows(edge_list const& g) {
  // From here on, the list has an undirected edge once, from the smaller vertex.
  edge_list once;
  once.vertices = g.vertices;
  once.from = g.from;
  once.to = g.to;
  for (std::uint64_t e = 0; !g.directed && e < g.edges(); ++e) {
    if (once.from[e] > once.to[e]) std::swap(once.from[e], once.to[e]);
  }
  csr rows = build_csr(once, {.arcs = arcs_of::directed});
  auto const at = [&](std::uint64_t i) {
    return rows.neighbours.begin() + static_cast<std::ptrdiff_t>(rows.offsets[i]);
  };
  for (std::uint64_t v = 0; v < g.vertices; ++v) std::sort(at(v), at(v + 1));
  return rows;
}

}  // namespace

summary summarize(edge_list const& g) {
  summary s;
  std::vector<std::uint64_t> degrees(g.vertices);
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    ++degrees[g.from[e]];
    ++degrees[g.to[e]];
    s.self_loops += g.from[e] == g.to[e] ? 1 : 0;
  }
  for (std::uint64_t const d : degrees) {
    s.isolated += d == 0 ? 1 : 0;
    s.largest_degree = std::max(s.largest_degree, d);
  }
  if (g.is_weighted()) {
    auto const [least, largest] = std::minmax_element(g.weights.begin(), g.weights.end());
    s.least_weight = *least;
    s.largest_weight = *largest;
  }
  csr const rows = sorted_rows(g);
  auto const at = [&](std::uint64_t i) {
    return rows.neighbours.begin() + static_cast<std::ptrdiff_t>(rows.offsets[i]);
  };
  for (vertex v = 0; v < g.vertices; ++v) {
    for (std::uint64_t a = rows.offsets[v]; a < rows.offsets[v + 1]; ++a) {
      vertex const to = rows.neighbours[a];
      s.parallel += a != rows.offsets[v] && rows.neighbours[a - 1] == to ? 1 : 0;
      if (g.directed && to != v)
        s.opposite += std::binary_search(at(to), at(to + std::uint64_t{1}), v) ? 1 : 0;
    }
  }
  return s;
}

}  // namespace graph
