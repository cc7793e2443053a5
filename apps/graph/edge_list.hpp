// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graph on the host as its edges, in the order in which a file or a generator gave them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace graph {

/// A vertex: from 0 to the number of vertices - 1.
using vertex = std::uint32_t;
/// Weight of an edge: a length, a cost, a capacity.
using weight = std::uint32_t;

/// No vertex has this number.
inline constexpr vertex no_vertex = 0xffffffff;
/// Vertices of a graph, at most.
inline constexpr std::uint64_t most_vertices = no_vertex;
/// The largest weight.
inline constexpr std::uint64_t most_weight = 0xffffffff;

/// Where the flow of a network comes from and where it goes to; no_vertex if that is not named.
struct terminals {
  vertex source = no_vertex, sink = no_vertex;
  friend bool operator==(terminals const&, terminals const&) = default;
};

/// Edge number i joins `from[i]` and `to[i]`; if the graph is directed it is the arc from the one
/// to the other. Self-loops and parallel edges are edges like any other.
struct edge_list {
  std::uint64_t vertices = 0;     ///< at most most_vertices; vertices without edges count
  bool directed = true;           ///< by the file; users may decide otherwise
  std::vector<vertex> from, to;   ///< as many as there are edges
  std::vector<weight> weights;    ///< one for each edge, or none at all
  std::optional<terminals> ends;  ///< for a flow network, whose weights are capacities
  vertex first_name = 0;          ///< name of vertex 0 in the file, if there are no `names`
  std::vector<vertex> names;      ///< name of each vertex in the file, unless they are in sequence

  [[nodiscard]] std::uint64_t edges() const { return from.size(); }
  [[nodiscard]] bool is_weighted() const { return !weights.empty(); }
  /// Name of `v` in the file.
  [[nodiscard]] std::uint64_t name_of(vertex v) const {
    return names.empty() ? std::uint64_t{v} + first_name : names[v];
  }
  /// The vertex that the file calls so, if there is one.
  [[nodiscard]] std::optional<vertex> vertex_called(std::uint64_t name) const {
    std::uint64_t v = name - first_name;  // a large one, if it is below that
    if (!names.empty()) {
      auto const at = std::lower_bound(names.begin(), names.end(), name);
      v = at != names.end() && *at == name ? static_cast<std::uint64_t>(at - names.begin())
                                           : vertices;
    }
    if (v >= vertices) return std::nullopt;
    return static_cast<vertex>(v);
  }
  friend bool operator==(edge_list const&, edge_list const&) = default;
};

}  // namespace graph
