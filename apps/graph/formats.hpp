// SPDX-License-Identifier: Apache-2.0
/// @file
/// The reader of each format, for `read_graph`.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "apps/graph/line_reader.hpp"
#include "apps/graph/readers.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace graph {

/// A problem of DIMACS: `sp` or `max`.
enum class dimacs_problem { sp, max };

/// DIMACS: `c` lines are comments, `p sp VERTICES ARCS` or `p max VERTICES ARCS` is the header,
/// `n ID s` and `n ID t` name source and sink, `a FROM TO WEIGHT` is an arc; vertices from 1 on.
edge_list read_dimacs(line_reader& lines, dimacs_problem problem);

/// Matrix Market: a square sparse matrix of patterns, integers or real numbers, general or
/// symmetric. Entry (i, j) is the arc from vertex i to vertex j; that of a symmetric one an edge.
edge_list read_matrix_market(line_reader& lines, double weight_factor);

/// SNAP: lines of two vertices, all perhaps with a weight behind; lines that begin with # or % are
/// comments. The vertices are those that occur, in the order of their numbers.
edge_list read_snap(line_reader& lines, double weight_factor);

/// The given format, or that of the ending. Throws std::runtime_error with the endings that are
/// known.
file_format known_format(std::string const& path, std::optional<file_format> given);

/// A weight that may have a fraction; 0 as `factor` refuses that.
inline weight real_weight(line_fields& fields, double factor) {
  double const value = fields.real("weight"), scaled = value * (factor == 0 ? 1 : factor) + 0.5;
  if (!(scaled < static_cast<double>(most_weight) + 1)) {
    fields.refuse("a weight" +
                  (factor == 0 ? std::string{}
                               : " of the file, multiplied by " + std::to_string(factor) + ",") +
                  " is not from 0 to " + std::to_string(most_weight));
  }
  auto const whole = static_cast<weight>(scaled);
  if (factor == 0 && static_cast<double>(whole) != value)
    fields.refuse("a weight has a fraction; a weight factor makes whole numbers of them");
  return whole;
}

/// The lines must have held as many edges as the file announced.
inline void check_count(line_reader const& lines, std::uint64_t found, std::uint64_t announced,
                        char const* what) {
  if (found != announced) {
    lines.here().refuse("the file ends after " + std::to_string(found) + " of " +
                        std::to_string(announced) + " " + what);
  }
}

}  // namespace graph
