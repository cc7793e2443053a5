// SPDX-License-Identifier: Apache-2.0
/// @file
/// First iteration: each vertex searches its own arcs for the lightest one. A vertex's arcs are in
/// the order of their edges, so both ends of equal edges choose the edge with the lower number. A
/// thread searches the arcs of a vertex with few arcs, a warp those of a vertex with more, and a
/// block those of a hub.
#pragma once

#include "apps/spanning_forest/forest.cuh"

#include <cstdint>

namespace spanning_forest {

/// Arguments of the first iteration.
struct first_iteration_arguments {
  graph::csr_view graph;
  component* components;   ///< [vertex] set to its lightest arc, by weight and number
  std::uint32_t* target;   ///< [vertex] set to the end of that arc
  std::uint32_t* sources;  ///< [arc] set to the vertex where it starts
  std::uint32_t* hubs;     ///< number of hubs, at first 0, followed by the hubs
};

/// Largest number of arcs that a thread searches.
inline constexpr std::uint64_t most_of_a_thread = 16;
/// Largest number of arcs that a warp searches.
inline constexpr std::uint64_t most_of_a_warp = 4096;

/// Fills `components`, `target` and `sources`; enqueued.
void first_iteration_async(first_iteration_arguments const& a);

}  // namespace spanning_forest
