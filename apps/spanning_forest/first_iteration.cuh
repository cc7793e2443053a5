// SPDX-License-Identifier: Apache-2.0
/// @file
/// The first iteration: each vertex looks through its own arcs for the lightest one, without other
/// vertices. A vertex's arcs are in the order of their edges, so among arcs of one weight the first
/// is that of the lower edge, at both ends. A thread handles a vertex of few arcs, a warp one of
/// more, and a block a hub.
#pragma once

#include "apps/spanning_forest/forest.cuh"

#include <cstdint>

namespace spanning_forest {

/// Arguments of the first iteration.
struct first_iteration_arguments {
  graph::csr_view graph;
  component* components;   ///< [vertex] becomes its lightest arc, by weight and number
  std::uint32_t* target;   ///< [vertex] becomes where that arc goes
  std::uint32_t* sources;  ///< [arc] becomes the vertex that it comes from
  std::uint32_t* hubs;     ///< their number, at first 0, followed by the vertices
};

/// More arcs than this are a warp's.
inline constexpr std::uint64_t most_of_a_thread = 16;
/// More than this are a block's.
inline constexpr std::uint64_t most_of_a_warp = 4096;

/// Fills `components`, `target` and `sources`; enqueued.
void first_iteration_async(first_iteration_arguments const& a);

}  // namespace spanning_forest
