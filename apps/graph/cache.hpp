// SPDX-License-Identifier: Apache-2.0
/// @file
/// Graphs that have been read once are kept in a binary file, which is read at the speed of the
/// disk.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "apps/graph/readers.hpp"

#include <functional>
#include <string>

namespace graph {

/// The cache of the file `path`: beside it, or in `folder` if that is not empty, under a name that
/// tells files of one name in different folders apart.
std::string cache_path(std::string const& path, std::string const& folder);

/// Reads a graph as `read_graph` does, from the cache if it has one that is intact and newer than
/// the file: of the same size, the same time of change to the nanosecond, the same content wherever
/// a sample of it is taken, and read with the same options. Otherwise the file is read, and the
/// cache written: whoever else reads it meanwhile finds the old one or the new one. A cache that
/// cannot be used, or not be written, is no error: `say` is called with one line. What lies under
/// its name but is no cache is left alone.
edge_list read_cached(std::string const& path, std::string const& folder, read_options const& o,
                      std::function<void(std::string const&)> const& say);

}  // namespace graph
