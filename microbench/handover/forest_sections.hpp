// SPDX-License-Identifier: Apache-2.0
// The critical sections of a minimum spanning tree's search ([Wang 2020, table 4.2], rows mst_rmat
// and mst_r4), as a list of records.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <cstdint>
#include <vector>

namespace handover {

/// By Boruvka's rounds as that benchmark has them: a thread works on a vertex. In a round each
/// vertex with an edge that leaves its component updates the component, under its lock. Returns the
/// record of each such section, in the order of rounds and vertices; a component of a round is a
/// record, numbered from 0 on over all rounds. The first round has no sections here: each vertex is
/// a component, which nobody else updates. Empty if a round is enough.
std::vector<std::uint32_t> sections_of_rounds(graph::edge_list const& g);

}  // namespace handover
