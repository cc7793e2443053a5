// SPDX-License-Identifier: Apache-2.0
// Search with one queue of vertices, in the order in which they are found.

#include "apps/breadth_first/reference.hpp"

namespace breadth_first {

std::vector<std::uint32_t> levels_from(graph::csr const& rows, graph::vertex source) {
  constexpr std::uint32_t unreached = 0xffffffff;
  std::vector<std::uint32_t> levels(rows.vertices(), unreached);
  std::vector<graph::vertex> queue{source};
  levels[source] = 0;
  for (std::uint64_t i = 0; i < queue.size(); ++i) {
    graph::vertex const u = queue[i];
    for (std::uint64_t arc = rows.offsets[u]; arc < rows.offsets[u + std::uint64_t{1}]; ++arc) {
      graph::vertex const v = rows.neighbours[arc];
      if (levels[v] != unreached) continue;
      levels[v] = levels[u] + 1;
      queue.push_back(v);
    }
  }
  return levels;
}

}  // namespace breadth_first
