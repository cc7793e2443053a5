// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dijkstra's algorithm on one core, as Boost Graph has it.
#pragma once

#include "apps/graph/csr.hpp"

#include <cstdint>
#include <vector>

namespace shortest_paths {

/// Returns the distance of each vertex from `source`; 2^64 - 1 for an unreached vertex.
std::vector<std::uint64_t> distances_from(graph::csr const& rows, graph::vertex source);

}  // namespace shortest_paths
