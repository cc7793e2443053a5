// SPDX-License-Identifier: Apache-2.0
/// @file
/// A flow network in device memory.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace max_flow {

namespace simt = warden::simt;

/// Every edge is two arcs, one there with its capacity and one back with capacity 0; those that
/// leave vertex v stand from `offsets[v]` to `offsets[v + 1]`. Rows as graph::build_csr makes them
/// of arcs_of::flow, with `reverse`. Parallel edges, edges both ways and loops are edges like any
/// other.
struct network {
  std::uint64_t const* offsets;     ///< `vertices + 1`
  std::uint32_t const* neighbours;  ///< [arc] where it leads
  std::uint32_t const* capacities;  ///< [arc]
  std::uint32_t const* reverse;     ///< [arc] the other arc of its edge
  std::uint32_t vertices;           ///< below 2^32 - 1
  std::uint64_t arcs;               ///< 2^32 at most
  std::uint32_t source, sink;       ///< two vertices

  /// Source and sink take and give what comes: they are never active.
  WARDEN_HOST_DEVICE bool is_terminal(std::uint32_t v) const { return v == source || v == sink; }
};

/// The arcs of a vertex.
struct row {
  std::uint64_t begin, end;
};

}  // namespace max_flow
