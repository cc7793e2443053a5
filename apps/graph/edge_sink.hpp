// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sink for the edges that a reader finds. Reserves memory for edges that the file can hold, not
/// for all that it announces.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "apps/text/line_reader.hpp"

#include <algorithm>
#include <cstdint>

namespace graph {

/// Adds edges to a list.
class edge_sink {
 public:
  edge_sink(edge_list& to, apps::line_reader const& lines) : to_{to}, lines_{lines} {}

  /// `edges` are announced, each in a line of `least_bytes` at least. Reserves memory for them, but
  /// for no more than the rest of the file has room for.
  void reserve(std::uint64_t edges, std::uint64_t least_bytes, bool weighted) {
    std::uint64_t const rest = lines_.bytes() - std::min(lines_.bytes(), lines_.bytes_done());
    // The last line may lack its end.
    grow_to(std::min(edges, (rest + 1) / least_bytes), weighted);
  }
  void add(vertex from, vertex to) {
    if (to_.from.size() == to_.from.capacity()) grow(false);
    to_.from.push_back(from);
    to_.to.push_back(to);
  }
  void add(vertex from, vertex to, weight w) {
    if (to_.from.size() == to_.from.capacity()) grow(true);
    to_.from.push_back(from);
    to_.to.push_back(to);
    to_.weights.push_back(w);
  }

 private:
  /// Reserves more memory if the file announced no edges or too few.
  void grow(bool weighted) { grow_to(lines_.room_for(to_.edges()), weighted); }
  void grow_to(std::uint64_t edges, bool weighted) {
    to_.from.reserve(edges);
    to_.to.reserve(edges);
    if (weighted) to_.weights.reserve(edges);
  }

  edge_list& to_;
  apps::line_reader const& lines_;
};

}  // namespace graph
