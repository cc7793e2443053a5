// SPDX-License-Identifier: Apache-2.0
// Distances by Boost Graph.

#include "apps/shortest_paths/reference.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

#include <cstddef>
#include <limits>

namespace shortest_paths {

std::vector<std::uint64_t> distances_from(graph::csr const& rows, graph::vertex source) {
  using weight = boost::property<boost::edge_weight_t, std::uint64_t>;
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, weight> g{
      rows.vertices()};
  for (std::size_t u = 0; u < rows.vertices(); ++u) {
    for (std::uint64_t arc = rows.offsets[u]; arc < rows.offsets[u + 1]; ++arc)
      add_edge(u, rows.neighbours[arc], weight{rows.weights[arc]}, g);
  }
  std::vector<std::uint64_t> distances(rows.vertices());
  boost::dijkstra_shortest_paths(
      g, source,
      boost::distance_map(
          boost::make_iterator_property_map(distances.begin(), get(boost::vertex_index, g)))
          .distance_inf(std::numeric_limits<std::uint64_t>::max()));
  return distances;
}

}  // namespace shortest_paths
