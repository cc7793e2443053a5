// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which rank owns which vertex, and the numbers by which ranks name vertices to one another.
#pragma once

#include "apps/graph/csr.hpp"

#include <cstdint>
#include <vector>

namespace breadth_first {

/// Vertices of a graph that are owned by ranks.
///
/// The vertex at place `i` of rank `r` has number `r * places() + i`. A rank's places are in the
/// order of falling degree, so vertices that are found early share words of a bitmap. Vertices
/// without arcs have no number: no search finds them.
struct partition {
  std::uint32_t ranks = 0;
  std::uint32_t words = 0;              ///< 32-bit words of each rank's bitmap
  std::vector<std::uint32_t> owned;     ///< [rank] number of vertices
  std::vector<std::uint32_t> numbers;   ///< [vertex] its number, or graph::no_vertex
  std::vector<graph::vertex> vertices;  ///< [number] its vertex, or graph::no_vertex

  /// Places of each rank. All ranks have as many as the rank that owns most.
  [[nodiscard]] std::uint32_t places() const { return words * 32; }
  [[nodiscard]] bool has(graph::vertex v) const { return numbers[v] != graph::no_vertex; }
  /// Precondition: `has(v)`.
  [[nodiscard]] std::uint32_t owner_of(graph::vertex v) const { return numbers[v] / places(); }
};

/// Deals out the vertices to `ranks` ranks in turn, from the highest degree on, so that the ranks
/// own about equally many vertices and arcs. `out` has the arcs that leave each vertex, `in` the
/// arcs that come to it; both may be one object. Throws limit_error for too many vertices.
partition deal_by_degree(graph::csr const& out, graph::csr const& in, std::uint32_t ranks);

/// Gives vertex v to rank `owners[v]`. Otherwise as `deal_by_degree`. Throws limit_error if the
/// numbers do not fit 32 bits.
partition give_to(std::vector<std::uint32_t> const& owners, graph::csr const& out,
                  graph::csr const& in, std::uint32_t ranks);

/// Returns the rows of a rank's vertices, by place. Each row names vertices by their numbers, in
/// the order of falling degree. All cores of the host share the work.
graph::csr owned_rows(graph::csr const& rows, partition const& p, std::uint32_t rank);

/// Returns the smallest number of places such that vertices at all other places, of all ranks, have
/// at most `most` arcs in `rows`.
std::uint32_t places_above(graph::csr const& rows, partition const& p, std::uint64_t most);

/// Returns, for each word of all ranks' bitmaps, the number of arcs in the rows of its vertices.
std::vector<std::uint32_t> arcs_of_words(graph::csr const& rows, partition const& p);

}  // namespace breadth_first
