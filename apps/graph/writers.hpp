// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes graphs in the formats that are read.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "apps/graph/readers.hpp"
#include "apps/support/output_file.hpp"

#include <optional>
#include <string>

namespace graph {

/// Writes and commits the file; `comment` is one line at its beginning.
/// An edge of an undirected graph is two arcs in `.gr` and `.max`, which have no edges. What a
/// format cannot hold is refused (`.gr` and `.max` have weights, `.max` is of a flow network) or
/// lost (`.txt`: vertices without edges; all others: names of vertices that leave numbers out).
/// Returns one line about vertices that are lost, or nothing. Throws std::runtime_error with the
/// file's name.
std::string write_graph(apps::output_file& to, edge_list const& g, std::string const& comment,
                        std::optional<file_format> format = {});
/// Throws what `write_graph` would that is known before there is a graph: for commands whose work
/// takes long. `has_ends`: whether it may come to have a source and a sink.
void check_output(std::string const& path, std::optional<file_format> format, bool has_ends = true);

}  // namespace graph
