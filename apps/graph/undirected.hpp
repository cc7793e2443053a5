// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files of arcs as undirected graphs: formats without a word for edges list them once or both
/// ways.
#pragma once

#include "apps/graph/edge_list.hpp"

namespace graph {

/// Makes an undirected graph of a directed one. If every arc between two vertices has one back of
/// the same weight, as in most files of roads, the two are one edge, and those from the smaller
/// vertex are kept; otherwise every arc is an edge. Returns whether arcs were halved. Decided by a
/// sum of 64-bit hashes: an asymmetric graph passes for a symmetric one by a chance of 2^-64.
bool make_undirected(edge_list& g);

}  // namespace graph
