// SPDX-License-Identifier: Apache-2.0
// Generates graphs, edge by edge.

#include "apps/graph/generate.cuh"
#include "apps/support/device.cuh"
#include "apps/support/progress.hpp"

#include <warden/simt/launch.cuh>

#include <type_traits>

namespace graph {

namespace {

/// Returns a list with the generator's properties of the graph, without edges.
template <class List, class Generator>
List without_edges(Generator const& g) {
  List list;
  list.vertices = g.vertices();
  list.directed = Generator::directed;
  if constexpr (requires { g.ends(); }) list.ends = g.ends();
  return list;
}

template <class Generator>
struct generate_arguments {
  Generator make;
  std::uint64_t edges;
  vertex* from;
  vertex* to;
  weight* weights;
};
template <class Generator>
WARDEN_KERNEL void generate_edges(generate_arguments<Generator> a) {
  apps::for_my_share(a.edges, [&](std::uint64_t e) {
    edge const made = a.make(e);
    a.from[e] = made.from;
    a.to[e] = made.to;
    a.weights[e] = made.w;
  });
}

}  // namespace

edge_list generate(generator const& any) {
  return std::visit(
      [](auto const& g) {
        auto list = without_edges<edge_list>(g);
        std::uint64_t const edges = g.edges();
        list.from.resize(edges);
        list.to.resize(edges);
        list.weights.resize(edges);
        apps::progress bar{"generating", edges};
        for (std::uint64_t e = 0; e < edges; ++e) {
          edge const made = g(e);
          list.from[e] = made.from;
          list.to[e] = made.to;
          list.weights[e] = made.w;
          if (e % (1 << 16) == 0) bar.advance_to(e);
        }
        return list;
      },
      any);
}

device_edges generate_on_device(generator const& any, warden::stream_ref s) {
  return std::visit(
      [&](auto const& g) {
        auto list = without_edges<device_edges>(g);
        std::uint64_t const edges = g.edges();
        list.from = warden::buffer<vertex>{edges};
        list.to = warden::buffer<vertex>{edges};
        list.weights = warden::buffer<weight>{edges};
        warden::launch(&generate_edges<std::decay_t<decltype(g)>>, apps::blocks(), apps::threads(),
                       s, {g, edges, list.from.data(), list.to.data(), list.weights.data()});
        return list;
      },
      any);
}

device_edges to_device(edge_list const& g) {
  return {g.vertices,
          g.directed,
          warden::buffer<vertex>{g.from},
          warden::buffer<vertex>{g.to},
          warden::buffer<weight>{g.weights},
          g.ends};
}

edge_list to_host(device_edges const& g, warden::stream_ref s) {
  edge_list list;
  list.vertices = g.vertices;
  list.directed = g.directed;
  list.ends = g.ends;
  list.from = g.from.to_host(s);
  list.to = g.to.to_host(s);
  list.weights = g.weights.to_host(s);
  return list;
}

void draw_weights(edge_list& g, weight largest, std::uint64_t seed) {
  random_numbers const random{seed};
  g.weights.resize(g.edges());
  for (std::uint64_t e = 0; e < g.edges(); ++e) g.weights[e] = 1 + random.below(largest, e, 0);
}

void shuffle_vertices(edge_list& g, std::uint64_t seed) {
  if (g.vertices == 0) return;
  random_order const order{g.vertices, seed};
  auto const number = [&](vertex v) { return static_cast<vertex>(order(v)); };
  for (vertex& v : g.from) v = number(v);
  for (vertex& v : g.to) v = number(v);
  if (g.ends) {
    for (vertex* const end : {&g.ends->source, &g.ends->sink}) {
      if (*end != no_vertex) *end = number(*end);
    }
  }
}

}  // namespace graph
