// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graph as the arcs that leave each vertex: compressed sparse rows, on the host.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <cstdint>
#include <vector>

namespace graph {

/// Arcs that the edges of a list become.
enum class arcs_of {
  directed,    ///< edge e: arc e
  undirected,  ///< edge e: arc 2 e forward, arc 2 e + 1 back, both with its weight
  flow         ///< as undirected, but the arc back has capacity 0
};

/// Optional parts, in addition to offsets, neighbours and, for a weighted list, weights. Arcs are
/// numbered in 32 bits: at most 2^32.
struct csr_options {
  arcs_of arcs = arcs_of::undirected;
  bool edges = false;    ///< `csr::edges`
  bool reverse = false;  ///< `csr::reverse`; not with arcs_of::directed
};

/// Returns true if arcs come in pairs.
constexpr bool paired(arcs_of arcs) { return arcs != arcs_of::directed; }

/// Rows of a graph. The arcs that leave vertex v are `offsets[v]` to `offsets[v + 1]`, in the order
/// of their edges. The two arcs of a self-loop are next to each other.
struct csr {
  std::vector<std::uint64_t> offsets;  ///< one more than there are vertices
  std::vector<vertex> neighbours;      ///< vertex at the end of each arc
  std::vector<weight> weights;         ///< weight of each arc, or none
  std::vector<std::uint32_t> edges;    ///< edge of each arc, if requested
  std::vector<std::uint32_t> reverse;  ///< place of the other arc of its edge, if requested

  [[nodiscard]] std::uint64_t vertices() const { return offsets.size() - 1; }
  [[nodiscard]] std::uint64_t arcs() const { return neighbours.size(); }
  friend bool operator==(csr const&, csr const&) = default;
};

/// Throws std::invalid_argument for incompatible options and too many arcs.
void check_options(csr_options const& o, std::uint64_t arcs);

/// Returns the rows of a graph, by a counting sort on one core. Throws std::invalid_argument as
/// `check_options` does.
csr build_csr(edge_list const& g, csr_options const& o);

}  // namespace graph
