// SPDX-License-Identifier: Apache-2.0
/// @file
/// R-MAT (Chakrabarti, Zhan and Faloutsos, 2004): graphs whose degrees follow a power law.
#pragma once

#include "apps/graph/generators/parameters.hpp"
#include "apps/graph/generators/random.cuh"

#include <cmath>
#include <cstdint>

namespace graph {

/// Graph500's parameters by default.
struct rmat_options {
  unsigned scale = 16;             ///< 2^scale vertices; 0 to 31
  std::uint64_t edge_factor = 16;  ///< edges for each vertex; 1 to 2^24
  /// The chance of each quarter of the adjacency matrix but the last, which has the rest.
  double a = 0.57, b = 0.19, c = 0.19;
  bool scramble = true;             ///< vertices are renumbered at random, or the hubs come first
  weight largest_weight = 1000000;  ///< weights are uniform from 1 on; 1 to most_weight
  std::uint64_t seed = 1;
};

/// Undirected; with self-loops and parallel edges, as they come.
class rmat {
 public:
  static constexpr bool directed = false;

  /// Throws std::invalid_argument with the value and its limits.
  explicit rmat(rmat_options const& o)
      : random_{o.seed},
        order_{std::uint64_t{1} << o.scale % 32, random_numbers::mixed(o.seed)},
        edges_{o.edge_factor << o.scale % 32},
        bounds_{part(o.a), part(o.a + o.b), part(o.a + o.b + o.c)},
        scale_{o.scale},
        largest_weight_{o.largest_weight},
        scramble_{o.scramble} {
    check_parameter("the scale", o.scale, 0, 31);
    check_parameter("the edge factor", o.edge_factor, 1, 1 << 24);
    check_parameter("the largest weight", o.largest_weight, 1, most_weight);
    if (!(o.a >= 0 && o.b >= 0 && o.c >= 0 && o.a + o.b + o.c <= 1 + 1e-9)) {
      throw std::invalid_argument{"a, b and c are " + std::to_string(o.a) + ", " +
                                  std::to_string(o.b) + " and " + std::to_string(o.c) +
                                  "; none is negative, and they add up to 1 at most"};
    }
  }
  [[nodiscard]] std::uint64_t vertices() const { return std::uint64_t{1} << scale_; }
  [[nodiscard]] std::uint64_t edges() const { return edges_; }

  WARDEN_HOST_DEVICE edge operator()(std::uint64_t e) const {
    std::uint64_t from = 0, to = 0, bits = 0;
    for (unsigned level = 0; level < scale_; ++level) {
      // A number serves two levels.
      bits = level % 2 == 0 ? random_.bits(e, level / 2) : bits >> 32;
      std::uint64_t const r = bits & 0xffffffff;
      from = 2 * from + (r >= bounds_[1] ? 1 : 0);
      to = 2 * to + ((r >= bounds_[0] && r < bounds_[1]) || r >= bounds_[2] ? 1 : 0);
    }
    if (scramble_) {
      from = order_(from);
      to = order_(to);
    }
    return {static_cast<vertex>(from), static_cast<vertex>(to),
            1 + random_.below(largest_weight_, e, random_numbers::numbers_an_item - 1)};
  }

 private:
  static std::uint64_t part(double p) {
    return static_cast<std::uint64_t>(std::llround(p * 4294967296.0));
  }

  random_numbers random_;
  random_order order_;
  std::uint64_t edges_;
  std::uint64_t bounds_[3];  // bounds of the quarters, times 2^32
  unsigned scale_;
  weight largest_weight_;
  bool scramble_;
};

}  // namespace graph
