// SPDX-License-Identifier: Apache-2.0
/// @file
/// Graph on the host as a list of edges, in the order of a file or a generator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace graph {

/// Number of a vertex, from 0 to the number of vertices - 1.
using vertex = std::uint32_t;
/// Weight of an edge: a length, a cost, a capacity.
using weight = std::uint32_t;

/// Number that no vertex has.
inline constexpr vertex no_vertex = 0xffffffff;
/// Largest number of vertices of a graph.
inline constexpr std::uint64_t most_vertices = no_vertex;
/// Largest weight.
inline constexpr std::uint64_t most_weight = 0xffffffff;

/// Source and sink of a network; no_vertex if the file does not name them.
struct terminals {
  vertex source = no_vertex, sink = no_vertex;
  friend bool operator==(terminals const&, terminals const&) = default;
};

/// Edge list. Edge i joins `from[i]` and `to[i]`; in a directed graph it is the arc from `from[i]`
/// to `to[i]`. Self-loops and parallel edges are allowed.
struct edge_list {
  std::uint64_t vertices = 0;     ///< at most most_vertices; vertices without edges count
  bool directed = true;           ///< direction by the file; callers may decide otherwise
  std::vector<vertex> from, to;   ///< as many as there are edges
  std::vector<weight> weights;    ///< one for each edge, or none at all
  std::optional<terminals> ends;  ///< for a flow network, whose weights are capacities
  vertex first_name = 0;          ///< name of vertex 0 in the file, if there are no `names`
  std::vector<vertex> names;      ///< name of each vertex in the file, unless they are in sequence

  [[nodiscard]] std::uint64_t edges() const { return from.size(); }
  [[nodiscard]] bool is_weighted() const { return !weights.empty(); }
  /// Returns the name of `v` in the file.
  [[nodiscard]] std::uint64_t name_of(vertex v) const {
    return names.empty() ? std::uint64_t{v} + first_name : names[v];
  }
  /// Returns the vertex with that name in the file, if there is one.
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
