// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compressed sparse rows in device memory, built there.
#pragma once

#include "apps/graph/csr.hpp"
#include "apps/graph/generate.cuh"

#include <warden/buffer.hpp>
#include <warden/stream.hpp>

#include <cstdint>

namespace graph {

/// View of a `device_csr` for kernels. Members are as in `csr`; absent ones are null.
struct csr_view {
  std::uint64_t vertices, arcs;
  std::uint64_t const* offsets;
  vertex const* neighbours;
  weight const* weights;
  std::uint32_t const* edges;
  std::uint32_t const* reverse;
};

/// A `csr` in device memory.
struct device_csr {
  warden::buffer<std::uint64_t> offsets;
  warden::buffer<vertex> neighbours;
  warden::buffer<weight> weights;
  warden::buffer<std::uint32_t> edges, reverse;

  [[nodiscard]] std::uint64_t vertices() const { return offsets.size() - 1; }
  [[nodiscard]] std::uint64_t arcs() const { return neighbours.size(); }
  [[nodiscard]] csr_view view() const {
    return {vertices(),     arcs(),       offsets.data(), neighbours.data(),
            weights.data(), edges.data(), reverse.data()};
  }
};

/// Returns the same as `build_csr` on the host, bit for bit. Sorts arcs by their source, counts
/// arcs of each source and adds the counts up. At most 2^32 arcs. Takes up to 16 bytes per arc in
/// addition to the edges and the result. Blocks the host. Throws std::invalid_argument for
/// impossible options, too many arcs, and an edge with a vertex that is not in the graph (it names
/// the first one); cuda_error when memory is short.
device_csr build_csr(device_edges const& g, csr_options const& o, warden::stream_ref s = {});

/// Returns a copy on the host; waits for the stream.
csr to_host(device_csr const& g, warden::stream_ref s = {});

}  // namespace graph
