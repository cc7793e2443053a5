// SPDX-License-Identifier: Apache-2.0
/// @file
/// RMF networks (Goldfarb and Grigoriadis, 1988; genrmf of the first DIMACS challenge): frames of a
/// x a vertices, one after another.
#pragma once

#include "apps/graph/generators/parameters.hpp"
#include "apps/graph/generators/random.cuh"

#include <cstdint>

namespace graph {

struct rmf_options {
  std::uint64_t a = 8;        ///< side of a frame, at least 1
  std::uint64_t b = 16;       ///< frames, at least 1; a b of a^2 is called long, of sqrt(a) wide
  weight c1 = 1, c2 = 10000;  ///< capacities between frames; 1 <= c1 <= c2
  std::uint64_t seed = 1;
};

/// Directed. Neighbours within a frame are joined by arcs both ways, of capacity c2 * a * a; each
/// vertex has an arc to one of the next frame, all to different ones, of a capacity uniform from c1
/// to c2. Vertex (x, y) of frame z has the number (z * a + x) * a + y; the source is the first, the
/// sink the last one.
class rmf {
 public:
  static constexpr bool directed = true;

  /// Throws std::invalid_argument with the value and its limits.
  explicit rmf(rmf_options const& o) : random_{o.seed}, o_{o} {
    check_parameter("a", o.a, 1, 65535);
    check_parameter("b", o.b, 1, most_vertices);
    check_vertices(o.a * o.a, o.b);
    check_parameter("the number of vertices", vertices(), 2, most_vertices);
    check_parameter("c1", o.c1, 1, o.c2);
    check_parameter("c2", o.c2, 1, most_weight / (o.a * o.a));
  }
  [[nodiscard]] std::uint64_t vertices() const { return o_.a * o_.a * o_.b; }
  [[nodiscard]] std::uint64_t edges() const { return in_frame() * o_.b + o_.a * o_.a * (o_.b - 1); }
  [[nodiscard]] terminals ends() const { return {0, static_cast<vertex>(vertices() - 1)}; }

  WARDEN_HOST_DEVICE edge operator()(std::uint64_t e) const {
    std::uint64_t const within = in_frame() * o_.b;
    return e < within ? in_frame_edge(e / in_frame(), e % in_frame()) : between_edge(e - within);
  }

 private:
  /// Arcs within a frame: four directions, a * (a - 1) in each.
  WARDEN_HOST_DEVICE std::uint64_t in_frame() const { return 4 * o_.a * (o_.a - 1); }

  WARDEN_HOST_DEVICE edge in_frame_edge(std::uint64_t frame, std::uint64_t which) const {
    std::uint64_t const pair = which / 4, direction = which % 4;
    // A pair of neighbours, in one of the two dimensions.
    std::uint64_t const along = pair % (o_.a - 1), across = pair / (o_.a - 1);
    std::uint64_t const step = direction < 2 ? 1 : o_.a;
    std::uint64_t const first = frame * o_.a * o_.a + along * step + across * (o_.a + 1 - step);
    std::uint64_t const other = first + step;
    bool const back = direction % 2 == 1;
    return {static_cast<vertex>(back ? other : first), static_cast<vertex>(back ? first : other),
            static_cast<weight>(o_.c2 * o_.a * o_.a)};
  }

  WARDEN_HOST_DEVICE edge between_edge(std::uint64_t from) const {
    std::uint64_t const size = o_.a * o_.a, frame = from / size;
    random_order const order{size, random_.bits(frame, 1)};
    return {static_cast<vertex>(from), static_cast<vertex>((frame + 1) * size + order(from % size)),
            o_.c1 + random_.below(std::uint64_t{o_.c2} - o_.c1 + 1, from, 0)};
  }

  random_numbers random_;
  rmf_options o_;
};

}  // namespace graph
