// SPDX-License-Identifier: Apache-2.0
/// @file
/// The first round: each vertex looks through its own arcs for the lightest, for which it needs
/// nobody. A vertex's arcs stand in the order of their edges, so that of two of one weight the
/// first is that of the lower edge, at both ends. Vertices of few arcs are a thread's, others a
/// warp's, and hubs a block's.
#pragma once

#include "apps/spanning_forest/forest.cuh"

#include <cstdint>

namespace spanning_forest {

/// What it takes.
struct first_round_arguments {
  graph::csr_view graph;
  component* components;   ///< [vertex] becomes its lightest arc, by weight and number
  std::uint32_t* target;   ///< [vertex] becomes where that arc goes
  std::uint32_t* sources;  ///< [arc] becomes the vertex that it comes from
  std::uint32_t* hubs;     ///< their number, at first 0, and behind it the vertices
};

/// More arcs than this are a warp's.
inline constexpr std::uint64_t most_of_a_thread = 16;
/// More than this are a block's.
inline constexpr std::uint64_t most_of_a_warp = 4096;

/// Fills `components`, `target` and `sources`; enqueued.
void first_round_async(first_round_arguments const& a);

}  // namespace spanning_forest
