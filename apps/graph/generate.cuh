// SPDX-License-Identifier: Apache-2.0
/// @file
/// Graphs generated from parameters and a seed, on the host or on the device, and the same on every
/// machine.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "apps/graph/generators/image_grid.cuh"
#include "apps/graph/generators/rmat.cuh"
#include "apps/graph/generators/rmf.cuh"
#include "apps/graph/generators/road_grid.cuh"
#include "apps/graph/generators/uniform.cuh"
#include "apps/graph/generators/washington.cuh"

#include <warden/buffer.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <optional>
#include <variant>

namespace graph {

/// Any of the generators. Each has `vertices()`, `edges()` and `directed`, for a flow network
/// `ends()`, and a call operator that returns the edge of any number below `edges()`.
using generator = std::variant<rmat, uniform, road_grid, washington, rmf, image_grid>;

/// Edge list in device memory, with members as in `edge_list`.
struct device_edges {
  std::uint64_t vertices = 0;
  bool directed = true;
  warden::buffer<vertex> from, to;
  warden::buffer<weight> weights;
  std::optional<terminals> ends;

  [[nodiscard]] std::uint64_t edges() const { return from.size(); }
};

/// Returns all edges, in the order of their numbers.
edge_list generate(generator const& g);
/// Generates the graph by a kernel; enqueued. Throws cuda_error when memory is short.
device_edges generate_on_device(generator const& g, warden::stream_ref s = {});

/// Returns a copy on the device; waits for the copy. Throws cuda_error when memory is short.
device_edges to_device(edge_list const& g);
/// Returns a copy on the host; waits for the stream.
edge_list to_host(device_edges const& g, warden::stream_ref s = {});

/// Sets random weights by a seed, uniform from 1 to `largest`.
void draw_weights(edge_list& g, weight largest, std::uint64_t seed);

/// Renumbers the vertices of a graph without `names` at random, by a seed. Neighbours in a grid
/// have close numbers; in many real graphs they do not.
void shuffle_vertices(edge_list& g, std::uint64_t seed);

}  // namespace graph
