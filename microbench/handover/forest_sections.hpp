// SPDX-License-Identifier: Apache-2.0
// The critical sections of a minimum spanning tree's search ([Wang 2020, table 4.2], rows mst_rmat
// and mst_r4), as a list of records.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <cstdint>
#include <vector>

namespace handover {

/// Sections of Boruvka's algorithm as its benchmark runs it: a thread works on a vertex. In an
/// iteration each vertex with an edge that leaves its component updates the component, under its
/// lock. Returns the record of each such section, in the order of iterations and vertices. A
/// component of an iteration is a record, numbered from 0 on over all iterations. The first
/// iteration has no sections here: each vertex is a component, which no other thread updates. Empty
/// if one iteration is enough.
std::vector<std::uint32_t> sections_of_rounds(graph::edge_list const& g);

}  // namespace handover
