// SPDX-License-Identifier: Apache-2.0
/// @file
/// Cache: keeps graphs that have been read in a binary file, which is read at the speed of the
/// disk.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "apps/graph/readers.hpp"

#include <functional>
#include <string>

namespace graph {

/// Returns the path of the cache of the file `path`. It is next to the file, or in `folder` if that
/// is not empty, under a name that differs for files of the same name in different folders.
std::string cache_path(std::string const& path, std::string const& folder);

/// Reads a graph as `read_graph` does, from the cache if there is one that is intact and belongs to
/// the file: the same size, the same time of change to the nanosecond, the same content in all
/// samples, and the same options. Otherwise reads the file and writes the cache; concurrent readers
/// find the old cache or the new one. A cache that cannot be used or written is no error: `say` is
/// called with one line. A file of the cache's name that is no cache is not overwritten.
edge_list read_cached(std::string const& path, std::string const& folder, read_options const& o,
                      std::function<void(std::string const&)> const& say);

}  // namespace graph
