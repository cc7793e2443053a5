// SPDX-License-Identifier: Apache-2.0
/// @file
/// A flow and a cut on the host, by edges of the graph, and as files.
#pragma once

#include "apps/graph/csr.hpp"
#include "apps/graph/edge_list.hpp"
#include "apps/support/output_file.hpp"

#include <cstdint>
#include <vector>

namespace max_flow {

/// A flow and a cut.
struct answer {
  std::uint64_t value = 0;
  std::vector<graph::weight> flow;  ///< along each edge
  std::vector<std::uint8_t> sides;  ///< for each vertex: 1 if it is on the sink's side of the cut
  std::vector<std::uint64_t> cut;   ///< the edges from the source's side to the sink's
};

/// Returns the answer from host copies of a flow_finder's results. `rows` has the edge of each arc.
answer answer_of(graph::edge_list const& g, graph::csr const& rows, std::uint64_t value,
                 std::vector<std::uint32_t> const& residual, std::vector<std::uint8_t> sides);

/// Writes a flow in the DIMACS format for solutions: `s VALUE`, then `f FROM TO FLOW` for each edge
/// with a flow, with the file's names of vertices. Throws std::runtime_error with the file's name.
void write_flow(apps::output_file& out, graph::edge_list const& g, answer const& a);
/// Writes a cut: `s VALUE`, then `n VERTEX` for each vertex on the source's side, and `a FROM TO
/// CAPACITY` for each edge from the source's side to the sink's side. Throws std::runtime_error
/// with the file's name.
void write_cut(apps::output_file& out, graph::edge_list const& g, answer const& a);

}  // namespace max_flow
