// SPDX-License-Identifier: Apache-2.0
// Boost.Graph's algorithms on compressed rows, with the same numbers of arcs.

#include "apps/max_flow/reference.hpp"

#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <boost/property_map/property_map.hpp>

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace max_flow {

namespace {

using amount = std::int64_t;
using rows_graph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, std::uint32_t, std::uint64_t>;
using arc = boost::graph_traits<rows_graph>::edge_descriptor;

/// Boost's copy of a network, and its property maps by arc.
struct boost_network {
  explicit boost_network(graph::csr const& rows) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
    std::vector<arc> all;
    arcs.reserve(rows.arcs());
    all.reserve(rows.arcs());
    for (std::uint64_t v = 0; v < rows.vertices(); ++v) {
      for (std::uint64_t a = rows.offsets[v]; a < rows.offsets[v + 1]; ++a) {
        arcs.emplace_back(static_cast<std::uint32_t>(v), rows.neighbours[a]);
        all.emplace_back(static_cast<std::uint32_t>(v), a);
      }
    }
    g = rows_graph{boost::edges_are_sorted, arcs.begin(), arcs.end(),
                   static_cast<std::uint32_t>(rows.vertices())};
    capacities.assign(rows.weights.begin(), rows.weights.end());
    residual.resize(rows.arcs());
    reverse.reserve(rows.arcs());
    for (std::uint32_t const back : rows.reverse) reverse.push_back(all[back]);
  }
  template <class T>
  auto by_arc(std::vector<T>& values) {
    return boost::make_iterator_property_map(values.begin(), get(boost::edge_index, g));
  }

  rows_graph g;
  std::vector<amount> capacities, residual;
  std::vector<arc> reverse;
};

template <class Algorithm>
reference_flow timed(Algorithm algorithm) {
  auto const begin = std::chrono::steady_clock::now();
  auto const value = static_cast<std::uint64_t>(algorithm());
  return {value, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace

reference_flow push_relabel(graph::csr const& rows, graph::terminals const& ends) {
  boost_network n{rows};
  return timed([&] {
    return push_relabel_max_flow(n.g, ends.source, ends.sink, n.by_arc(n.capacities),
                                 n.by_arc(n.residual), n.by_arc(n.reverse),
                                 get(boost::vertex_index, n.g));
  });
}

reference_flow boykov_kolmogorov(graph::csr const& rows, graph::terminals const& ends) {
  boost_network n{rows};
  return timed([&] {
    return boykov_kolmogorov_max_flow(n.g, n.by_arc(n.capacities), n.by_arc(n.residual),
                                      n.by_arc(n.reverse), get(boost::vertex_index, n.g),
                                      ends.source, ends.sink);
  });
}

}  // namespace max_flow
