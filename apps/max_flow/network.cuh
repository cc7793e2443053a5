// SPDX-License-Identifier: Apache-2.0
/// @file
/// Flow network in device memory.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace max_flow {

namespace simt = warden::simt;

/// Network. Every edge is two arcs: one forward with the edge's capacity, and one back with
/// capacity 0. The arcs that leave vertex v are `offsets[v]` to `offsets[v + 1]`. The rows are
/// those of graph::build_csr with arcs_of::flow and `reverse`. Parallel edges, antiparallel edges
/// and loops are allowed.
struct network {
  std::uint64_t const* offsets;     ///< `vertices + 1`
  std::uint32_t const* neighbours;  ///< [arc] vertex at its end
  std::uint32_t const* capacities;  ///< [arc]
  std::uint32_t const* reverse;     ///< [arc] the other arc of its edge
  std::uint32_t vertices;           ///< below 2^32 - 1
  std::uint64_t arcs;               ///< at most 2^32
  std::uint32_t source, sink;       ///< two different vertices

  /// Returns true for source and sink. They are never active.
  WARDEN_HOST_DEVICE bool is_terminal(std::uint32_t v) const { return v == source || v == sink; }
};

/// The arcs of a vertex.
struct row {
  std::uint64_t begin, end;
};

}  // namespace max_flow
