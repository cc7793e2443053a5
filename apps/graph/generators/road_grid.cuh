// SPDX-License-Identifier: Apache-2.0
/// @file
/// Road-like graphs: a grid of crossings without many of the streets, but connected.
#pragma once

#include "apps/graph/generators/parameters.hpp"
#include "apps/graph/generators/random.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace graph {

struct road_grid_options {
  std::uint64_t rows = 256, columns = 256;  ///< at least 1
  double arcs_a_vertex = 2.5;  ///< twice the edges by the vertices; from a tree's to a full grid's
  std::uint64_t seed = 1;
};

/// Undirected, connected, of low degree and large diameter, as road networks are. Vertex
/// (row, column) has the number row * columns + column. Each vertex is joined to the one above it
/// or to the one left of it, as a coin falls: that is a spanning tree. The other of the two edges
/// is there for as many vertices, chosen at random, as the number of edges asks for. Weights are
/// like lengths of streets: from 100 to 6,400, each octave as often as the others.
class road_grid {
 public:
  static constexpr bool directed = false;

  /// Throws std::invalid_argument with the value and its limits.
  explicit road_grid(road_grid_options const& o)
      : random_{o.seed},
        order_{std::max<std::uint64_t>(1, inner(checked(o))), random_numbers::mixed(o.seed)},
        rows_{o.rows},
        columns_{o.columns} {
    std::uint64_t const tree = vertices() - 1;
    auto const wanted = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(vertices()) * o.arcs_a_vertex / 2));
    edges_ = std::clamp(wanted, tree, tree + inner(o));
  }
  [[nodiscard]] std::uint64_t vertices() const { return rows_ * columns_; }
  [[nodiscard]] std::uint64_t edges() const { return edges_; }

  WARDEN_HOST_DEVICE edge operator()(std::uint64_t e) const {
    std::uint64_t const tree = rows_ * columns_ - 1;
    std::uint64_t v = e + 1;
    bool up;
    if (e < tree) {
      up = v % columns_ == 0 || (v >= columns_ && goes_up(v));
    } else {
      // Number among the vertices below and right of another one.
      std::uint64_t const which = order_(e - tree);
      v = (1 + which / (columns_ - 1)) * columns_ + 1 + which % (columns_ - 1);
      up = !goes_up(v);
    }
    return {static_cast<vertex>(v), static_cast<vertex>(up ? v - columns_ : v - 1), length(e)};
  }

 private:
  static road_grid_options const& checked(road_grid_options const& o) {
    check_parameter("the number of rows", o.rows, 1, most_vertices);
    check_parameter("the number of columns", o.columns, 1, most_vertices);
    check_vertices(o.rows, o.columns);
    if (!(o.arcs_a_vertex >= 0 && o.arcs_a_vertex <= 4)) {
      throw std::invalid_argument{std::to_string(o.arcs_a_vertex) +
                                  " arcs a vertex are not from 0 to 4"};
    }
    return o;
  }
  static std::uint64_t inner(road_grid_options const& o) { return (o.rows - 1) * (o.columns - 1); }
  WARDEN_HOST_DEVICE bool goes_up(std::uint64_t v) const { return random_.bits(v, 0) >> 63 != 0; }
  WARDEN_HOST_DEVICE weight length(std::uint64_t e) const {
    return (100 + random_.below(100, e, 1)) << random_.below(6, e, 2);
  }

  random_numbers random_;
  random_order order_;
  std::uint64_t rows_, columns_, edges_ = 0;
};

}  // namespace graph
