// SPDX-License-Identifier: Apache-2.0
/// @file
/// File of a graph as the argument of a command.
#pragma once

#include "apps/graph/cache.hpp"
#include "apps/graph/readers.hpp"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>

namespace graph {

/// Path of a file, and options for reading it.
struct file_argument {
  std::string path, format, cache_folder;
  bool is_cached = false;
  double weight_factor = 0;
  bool skips_weights = false;  ///< set by commands that need no weights

  void add_to(CLI::App& command) {
    command.add_option("FILE", path, "a graph: .gr, .max, .mtx, .txt")
        ->required()
        ->check(CLI::ExistingFile);
    command.add_option("--format", format, "format of the file; by default that of its ending")
        ->check(CLI::IsMember(format_names()));
    command
        .add_option("--weight-factor", weight_factor,
                    "multiplies all weights and capacities by this, and rounds them")
        ->transform(apps::real(1e-9, 1e9));
    command.add_flag("--cache", is_cached, "keeps a binary copy next to the file, and reads that");
    command.add_option("--cache-folder", cache_folder, "folder of that copy")
        ->check(apps::file_name());
  }
  /// Returns the graph. Throws as `read_graph`. Reports an unusable cache in one line that begins
  /// with the command's `name`.
  [[nodiscard]] edge_list read(std::string const& name) const {
    read_options o;
    o.weight_factor = weight_factor;
    o.skips_weights = skips_weights;
    if (!format.empty()) o.format = format_named(format);
    if (!is_cached && cache_folder.empty()) return read_graph(path, o);
    return read_cached(path, cache_folder, o, [&](std::string const& line) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), line.c_str());
    });
  }
  /// Returns the file's name without folders.
  [[nodiscard]] std::string name() const { return path.substr(path.find_last_of('/') + 1); }
};

}  // namespace graph
