// SPDX-License-Identifier: Apache-2.0
/// @file
/// Uniform random graphs: every edge joins two random vertices.
#pragma once

#include "apps/graph/generators/parameters.hpp"
#include "apps/graph/generators/random.cuh"

#include <cstdint>

namespace graph {

struct uniform_options {
  std::uint64_t vertices = 1 << 16;  ///< 1 to most_vertices
  std::uint64_t edges = 1 << 18;     ///< up to 2^40
  weight largest_weight = 1000000;   ///< weights are uniform from 1 on; 1 to most_weight
  std::uint64_t seed = 1;
};

/// Undirected; the ends of an edge are drawn one by one, so there are a few self-loops and parallel
/// edges.
class uniform {
 public:
  static constexpr bool directed = false;

  /// Throws std::invalid_argument with the value and its limits.
  explicit uniform(uniform_options const& o) : random_{o.seed}, o_{o} {
    check_parameter("the number of vertices", o.vertices, 1, most_vertices);
    check_parameter("the number of edges", o.edges, 0, std::uint64_t{1} << 40);
    check_parameter("the largest weight", o.largest_weight, 1, most_weight);
  }
  [[nodiscard]] std::uint64_t vertices() const { return o_.vertices; }
  [[nodiscard]] std::uint64_t edges() const { return o_.edges; }

  WARDEN_HOST_DEVICE edge operator()(std::uint64_t e) const {
    return {random_.below(o_.vertices, e, 0), random_.below(o_.vertices, e, 1),
            1 + random_.below(o_.largest_weight, e, 2)};
  }

 private:
  random_numbers random_;
  uniform_options o_;
};

}  // namespace graph
