// SPDX-License-Identifier: Apache-2.0
/// @file
/// Graphs by parameters and a seed, made on the host or on the device: the same ones on every
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

/// Any of the generators. Each tells its `vertices()`, `edges()` and whether it is `directed`, for
/// a flow network its `ends()`, and as a function makes the edge of any number below `edges()`.
using generator = std::variant<rmat, uniform, road_grid, washington, rmf, image_grid>;

/// An edge list in device memory; `edge_list` says what its members are.
struct device_edges {
  std::uint64_t vertices = 0;
  bool directed = true;
  warden::buffer<vertex> from, to;
  warden::buffer<weight> weights;
  std::optional<terminals> ends;

  [[nodiscard]] std::uint64_t edges() const { return from.size(); }
};

/// All edges, in the order of their numbers.
edge_list generate(generator const& g);
/// Generates the graph by a kernel; enqueued. Throws cuda_error when memory is short.
device_edges generate_on_device(generator const& g, warden::stream_ref s = {});

/// A copy on the device; waits until it has arrived. Throws cuda_error when memory is short.
device_edges to_device(edge_list const& g);
/// A copy on the host; waits for the stream.
edge_list to_host(device_edges const& g, warden::stream_ref s = {});

/// Gives an edge list that has no weights those of a seed: uniform from 1 to `largest`.
void draw_weights(edge_list& g, weight largest, std::uint64_t seed);

/// Gives the vertices of a graph without `names` other numbers, by a seed: neighbours of a grid
/// have numbers near one another, those of many real graphs have not.
void shuffle_vertices(edge_list& g, std::uint64_t seed);

}  // namespace graph
