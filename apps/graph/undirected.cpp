// SPDX-License-Identifier: Apache-2.0
// Tests if arcs come in pairs, and keeps one arc of each pair.

#include "apps/graph/undirected.hpp"

#include <cstdint>

namespace graph {

namespace {

/// Output function of SplitMix64.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// True if the arcs to larger vertices, reversed, are those to smaller ones: as multisets.
bool is_symmetric(edge_list const& g) {
  std::uint64_t up = 0, down = 0;
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    std::uint64_t const from = g.from[e], to = g.to[e];
    std::uint64_t const w = g.is_weighted() ? g.weights[e] : 0;
    if (from < to) up += mixed(mixed(from << 32 | to) + w);
    if (to < from) down += mixed(mixed(to << 32 | from) + w);
  }
  return up == down;
}

}  // namespace

bool make_undirected(edge_list& g) {
  if (!g.directed) return false;
  g.directed = false;
  if (!is_symmetric(g)) return false;
  std::uint64_t kept = 0;
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    if (g.from[e] > g.to[e]) continue;
    g.from[kept] = g.from[e];
    g.to[kept] = g.to[e];
    if (g.is_weighted()) g.weights[kept] = g.weights[e];
    ++kept;
  }
  bool const halved = kept != g.edges();
  if (g.is_weighted()) g.weights.resize(kept);
  g.from.resize(kept);
  g.to.resize(kept);
  return halved;
}

}  // namespace graph
