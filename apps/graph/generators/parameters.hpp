// SPDX-License-Identifier: Apache-2.0
/// @file
/// Common parts of the generators of graphs: an edge, and limits of parameters.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace graph {

/// Result of a generator for an edge's number.
struct edge {
  vertex from, to;
  weight w;
};

/// Throws std::invalid_argument, with the value and its limits, unless `value` is from `least` to
/// `most`.
inline void check_parameter(std::string const& name, std::uint64_t value, std::uint64_t least,
                            std::uint64_t most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument{name + " " + std::to_string(value) + " is not from " +
                              std::to_string(least) + " to " + std::to_string(most)};
}

/// Throws std::invalid_argument when there are more than most_vertices; `factors` were checked to
/// be 32-bit numbers.
inline void check_vertices(std::uint64_t a, std::uint64_t b, std::uint64_t more = 0) {
  if (b == 0 || a <= (most_vertices - more) / b) return;
  throw std::invalid_argument{std::to_string(a) + " x " + std::to_string(b) +
                              " vertices; the limit is " + std::to_string(most_vertices)};
}

}  // namespace graph
