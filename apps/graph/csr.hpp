// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graph as the arcs that leave each vertex: compressed sparse rows, on the host.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <cstdint>
#include <vector>

namespace graph {

/// Which arcs the edges of a list become.
enum class arcs_of {
  directed,    ///< edge e: arc e
  undirected,  ///< edge e: arc 2 e as it stands, arc 2 e + 1 back; both with its weight
  flow         ///< the same, but the arc back has capacity 0
};

/// Optional parts, in addition to offsets, neighbours and, for a weighted list, weights. Arcs are
/// numbered in 32 bits: at most 2^32.
struct csr_options {
  arcs_of arcs = arcs_of::undirected;
  bool edges = false;    ///< `csr::edges`
  bool reverse = false;  ///< `csr::reverse`; not with arcs_of::directed
};

/// True if arcs come in pairs.
constexpr bool paired(arcs_of arcs) { return arcs != arcs_of::directed; }

/// The arcs that leave vertex v are those from `offsets[v]` to `offsets[v + 1]`, in the order of
/// their edges; the two arcs of a self-loop are next to each other.
struct csr {
  std::vector<std::uint64_t> offsets;  ///< one more than there are vertices
  std::vector<vertex> neighbours;      ///< where each arc leads
  std::vector<weight> weights;         ///< weight of each arc, or none
  std::vector<std::uint32_t> edges;    ///< the edge each arc comes from, if wanted
  std::vector<std::uint32_t> reverse;  ///< where the other arc of its edge is, if wanted

  [[nodiscard]] std::uint64_t vertices() const { return offsets.size() - 1; }
  [[nodiscard]] std::uint64_t arcs() const { return neighbours.size(); }
  friend bool operator==(csr const&, csr const&) = default;
};

/// Throws std::invalid_argument for options that do not go together, and for too many arcs.
void check_options(csr_options const& o, std::uint64_t arcs);

/// The rows of a graph, by a counting sort on one core. Throws std::invalid_argument as
/// `check_options` does.
csr build_csr(edge_list const& g, csr_options const& o);

}  // namespace graph
