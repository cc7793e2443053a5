// SPDX-License-Identifier: Apache-2.0
// Source vertex of the searches of a graph.
#pragma once

#include "apps/breadth_first/searcher.cuh"
#include "apps/graph/device_csr.cuh"

#include <warden/buffer.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// Returns the source vertex. It is in the component of the vertex of the highest degree: the first
/// such vertex in the second third of all vertices, or the vertex of the highest degree if there is
/// none. `on_host` has the same rows as `rows`.
inline graph::vertex search_source(graph::device_csr const& rows, graph::csr const& on_host) {
  auto const arcs = [&](std::uint64_t v) { return on_host.offsets[v + 1] - on_host.offsets[v]; };
  graph::vertex most = 0;
  for (graph::vertex v = 1; v < on_host.vertices(); ++v) {
    if (arcs(v) > arcs(most)) most = v;
  }
  breadth_first::searcher finder{rows.view(), rows.view(), "direction_optimizing"};
  finder.find(most);
  std::vector<std::uint32_t> levels(on_host.vertices());
  warden::copy(levels.data(), finder.levels(), levels.size());
  warden::stream_ref{}.synchronize();
  auto const begin = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 3);
  auto const first = std::find_if(
      begin, levels.end(), [](std::uint32_t level) { return level != breadth_first::unreached; });
  return first == levels.end() ? most : static_cast<graph::vertex>(first - levels.begin());
}

}  // namespace bench
