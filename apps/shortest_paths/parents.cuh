// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parents of vertices on shortest paths, by the distances of a search.
#pragma once

#include "apps/graph/device_csr.cuh"
#include "apps/shortest_paths/distances.cuh"

#include <source_location>

namespace shortest_paths {

/// Writes each vertex's parent to `parents`, in device memory: the source is its own parent, and an
/// unreached vertex has `graph::no_vertex`. The parents are a tree rooted at the source, also if
/// cycles of weight 0 exist. A vertex with several shortest paths has any of their parents. Blocks
/// the host. Throws cuda_error.
void find_parents(graph::csr_view const& rows, graph::vertex source, distance_view distances,
                  graph::vertex* parents,
                  std::source_location where = std::source_location::current());

}  // namespace shortest_paths
