// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks that distances and parents are those of shortest paths. They prove each other.
#pragma once

#include "apps/graph/device_csr.cuh"
#include "apps/shortest_paths/distances.cuh"

#include <cstdint>
#include <string>

namespace shortest_paths {

/// Counts of errors in an answer, independent of how it was found.
///
/// The parents' arcs make a path to each reached vertex, whose length is its distance if they are
/// tight and form a tree. No path is shorter if no arc shortens a distance. No other vertex can be
/// reached if no arc leads from a reached vertex to an unreached one.
struct findings {
  std::uint64_t reached = 0;     ///< vertices with a distance
  std::uint64_t arcs = 0;        ///< arcs that leave these vertices
  std::uint64_t farthest = 0;    ///< the largest distance
  std::uint64_t shortening = 0;  ///< arcs that shorten the distance of a reached vertex
  std::uint64_t leaving = 0;     ///< arcs from a reached vertex to an unreached one
  std::uint64_t orphans = 0;     ///< vertices, except the source, without a tight arc from a parent
  std::uint64_t unrooted = 0;    ///< vertices whose parents do not lead to the source
  std::uint64_t strays = 0;      ///< unreached vertices with a parent
  bool begins_at_source = false;  ///< true if the source has distance 0 and is its own parent
};

/// Returns the findings about an answer in device memory. Blocks the host. Throws cuda_error.
findings audit(graph::csr_view const& rows, graph::vertex source, distance_view distances,
               graph::vertex const* parents);

/// Returns the errors; empty if there are none.
std::string error_text(findings const& f);

}  // namespace shortest_paths
