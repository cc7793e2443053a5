// SPDX-License-Identifier: Apache-2.0
/// @file
/// Readers of the formats, for `read_graph`.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "apps/graph/readers.hpp"
#include "apps/text/line_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace graph {

/// A problem of DIMACS: `sp` or `max`.
enum class dimacs_problem { sp, max };

/// DIMACS: `c` lines are comments, `p sp VERTICES ARCS` or `p max VERTICES ARCS` is the header,
/// `n ID s` and `n ID t` may name source and sink, `a FROM TO WEIGHT` is an arc; vertices from 1
/// on.
edge_list read_dimacs(apps::line_reader& lines, dimacs_problem problem, read_options const& o);

/// Matrix Market: a square sparse matrix of patterns, integers or real numbers, general or
/// symmetric. Entry (i, j) is the arc from vertex i to vertex j; of a symmetric one it is an edge,
/// below the diagonal or above it.
edge_list read_matrix_market(apps::line_reader& lines, read_options const& o);

/// SNAP: lines of two vertices, optionally all followed by a weight; lines that begin with # or %
/// are comments. The vertices are those that occur, in the order of their numbers.
edge_list read_snap(apps::line_reader& lines, read_options const& o);

/// Returns the given format, or that of the ending. Throws std::runtime_error with the known
/// endings.
file_format known_format(std::string const& path, std::optional<file_format> given);

/// Returns the next field as a weight, as `o` says; refuses others by the name `what`.
weight scaled_weight(apps::line_fields& fields, char const* what, read_options const& o);
/// Returns the next field as `scaled_weight` does. Faster for whole numbers without a factor.
inline weight weight_of(apps::line_fields& fields, char const* what, read_options const& o) {
  if (o.weight_factor == 0) {
    if (auto const whole = fields.digits(0, most_weight)) return static_cast<weight>(*whole);
  }
  return scaled_weight(fields, what, o);
}

}  // namespace graph
