// SPDX-License-Identifier: Apache-2.0
/// @file
/// Breadth-first search on one core: what all others are checked against.
#pragma once

#include "apps/graph/csr.hpp"

#include <cstdint>
#include <vector>

namespace breadth_first {

/// [vertex] arcs of a shortest path from `source`; `0xffffffff` if there is none.
std::vector<std::uint32_t> levels_from(graph::csr const& rows, graph::vertex source);

}  // namespace breadth_first
