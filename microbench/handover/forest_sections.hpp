// SPDX-License-Identifier: Apache-2.0
// Critical sections of the search for a minimum spanning tree, as a list of records ([Wang 2020,
// table 4.2], rows mst_rmat and mst_r4).
#pragma once

#include "apps/graph/edge_list.hpp"

#include <cstdint>
#include <vector>

namespace handover {

/// Returns the record of each section of Boruvka's algorithm, in the order of iterations and
/// vertices. The paper's benchmark runs one thread for each vertex. In an iteration, each vertex
/// with an edge that leaves its component updates the component, under its lock. Each component of
/// each iteration is a record; records are numbered from 0 on over all iterations. The first
/// iteration has no sections: each vertex is a component, which no other thread updates. Empty if
/// one iteration is enough.
std::vector<std::uint32_t> forest_sections(graph::edge_list const& g);

}  // namespace handover
