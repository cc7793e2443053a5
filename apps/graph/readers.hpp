// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads graphs from files of four formats.
#pragma once

#include "apps/graph/edge_list.hpp"

#include <optional>
#include <string>
#include <vector>

namespace graph {

/// Format of a file.
enum class file_format {
  shortest_path,  ///< `.gr`: DIMACS, arcs with a length
  max_flow,       ///< `.max`: DIMACS, arcs with a capacity, a source and a sink
  matrix_market,  ///< `.mtx`: a sparse matrix
  snap            ///< `.txt`, `.el`, `.edges`: lines of two vertices, perhaps with a weight
};

/// Returns the format of the name's ending; nothing for unknown endings.
std::optional<file_format> format_of(std::string const& path);

/// Returns the formats' names in their order: "gr", "max", "mtx", "txt".
std::vector<std::string> const& format_names();
/// Returns the format of that name.
file_format format_named(std::string const& name);

/// Options for reading a file.
struct read_options {
  std::optional<file_format> format;  ///< format; by the ending if not set
  /// All weights are multiplied by this and rounded to the nearest whole number. If it is 0,
  /// weights with a fraction are refused.
  double weight_factor = 0;
  /// Reads the graph without weights: any text will do as one.
  bool skips_weights = false;
  friend bool operator==(read_options const&, read_options const&) = default;
};

/// Reads a file. Edges keep its order, including parallel ones and self-loops. Throws
/// std::runtime_error with the file's name, and the line's number, for an invalid graph, and with
/// the known endings for another one.
edge_list read_graph(std::string const& path, read_options const& o = {});

}  // namespace graph
