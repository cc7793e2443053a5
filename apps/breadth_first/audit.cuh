// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks that levels and parents are those of a breadth-first search. They prove each other.
#pragma once

#include "apps/graph/device_csr.cuh"

#include <cstdint>
#include <string>

namespace breadth_first {

/// Counts of errors in an answer, independent of how it was found.
///
/// Parents are paths: a vertex at level l with a parent at level l - 1, along an existing arc, is
/// reached by l arcs, and not by fewer if no arc leads from any level to one more than one higher.
struct findings {
  std::uint64_t reached = 0;      ///< vertices with a level
  std::uint64_t arcs = 0;         ///< arcs that leave these vertices
  std::uint64_t depth = 0;        ///< the highest level
  std::uint64_t skipped = 0;      ///< arcs from a level to one more than one higher, or to none
  std::uint64_t orphans = 0;      ///< vertices, except the source, without an arc from their parent
  std::uint64_t torn = 0;         ///< vertices whose parent is not one level below
  bool begins_at_source = false;  ///< true if only the source has level 0 and it is its own parent
};

/// Returns the findings about an answer in device memory. Blocks the host. Throws cuda_error.
findings audit(graph::csr_view const& rows, std::uint32_t source, std::uint32_t const* levels,
               std::uint32_t const* parents);

/// Returns the errors; empty if there are none.
std::string error_text(findings const& f);

}  // namespace breadth_first
