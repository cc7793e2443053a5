// SPDX-License-Identifier: Apache-2.0
// Builds rows from edges on the host: the reference of the device's build.

#include "apps/graph/csr.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace graph {

void check_options(csr_options const& o, std::uint64_t arcs) {
  if (o.reverse && !paired(o.arcs))
    throw std::invalid_argument{"graph: arcs of a directed graph have no reverse arcs"};
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  if ((o.reverse || o.edges) && arcs > most) {
    throw std::invalid_argument{"graph: " + std::to_string(arcs) +
                                " arcs; with edges or reverse arcs the limit is " +
                                std::to_string(most)};
  }
}

csr build_csr(edge_list const& g, csr_options const& o) {
  bool const pairs = paired(o.arcs);
  std::uint64_t const arcs = pairs ? 2 * g.edges() : g.edges();
  check_options(o, arcs);
  csr c;
  c.offsets.assign(g.vertices + 1, 0);
  c.neighbours.resize(arcs);
  if (g.is_weighted()) c.weights.resize(arcs);
  if (o.edges) c.edges.resize(arcs);
  if (o.reverse) c.reverse.resize(arcs);

  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    ++c.offsets[g.from[e] + std::uint64_t{1}];
    if (pairs) ++c.offsets[g.to[e] + std::uint64_t{1}];
  }
  for (std::uint64_t v = 0; v < g.vertices; ++v) c.offsets[v + 1] += c.offsets[v];
  std::vector<std::uint64_t> next(c.offsets.begin(), c.offsets.end() - 1);
  auto const add = [&](std::uint64_t e, vertex from, vertex to, weight w) {
    std::uint64_t const at = next[from]++;
    c.neighbours[at] = to;
    if (g.is_weighted()) c.weights[at] = w;
    if (o.edges) c.edges[at] = static_cast<std::uint32_t>(e);
    return static_cast<std::uint32_t>(at);
  };
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    weight const w = g.is_weighted() ? g.weights[e] : 0;
    std::uint32_t const there = add(e, g.from[e], g.to[e], w);
    if (!pairs) continue;
    std::uint32_t const back = add(e, g.to[e], g.from[e], o.arcs == arcs_of::flow ? 0 : w);
    if (o.reverse) {
      c.reverse[there] = back;
      c.reverse[back] = there;
    }
  }
  return c;
}

}  // namespace graph
