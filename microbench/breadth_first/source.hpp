// SPDX-License-Identifier: Apache-2.0
// The vertex that searches of a graph begin at.
#pragma once

#include "apps/breadth_first/reference.hpp"
#include "apps/graph/csr.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bench {

/// A vertex like any other of the component of the vertex of the highest degree: the first in the
/// second third of all vertices, or that vertex if there is none.
inline graph::vertex search_source(graph::csr const& rows) {
  auto const arcs = [&](std::uint64_t v) { return rows.offsets[v + 1] - rows.offsets[v]; };
  graph::vertex most = 0;
  for (graph::vertex v = 1; v < rows.vertices(); ++v) {
    if (arcs(v) > arcs(most)) most = v;
  }
  auto const levels = breadth_first::levels_from(rows, most);
  auto const begin = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 3);
  auto const first =
      std::find_if(begin, levels.end(), [](std::uint32_t level) { return level != 0xffffffff; });
  return first == levels.end() ? most : static_cast<graph::vertex>(first - levels.begin());
}

}  // namespace bench
