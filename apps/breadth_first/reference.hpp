// SPDX-License-Identifier: Apache-2.0
/// @file
/// Breadth-first search by one thread of the host: the reference of all arms.
#pragma once

#include "apps/graph/csr.hpp"

#include <cstdint>
#include <vector>

namespace breadth_first {

/// Returns for each vertex the number of arcs of a shortest path from `source`; `0xffffffff` if
/// there is no path.
std::vector<std::uint32_t> levels_from(graph::csr const& rows, graph::vertex source);

}  // namespace breadth_first
