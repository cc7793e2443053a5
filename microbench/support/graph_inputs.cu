// SPDX-License-Identifier: Apache-2.0
// Table of graphs by name.

#include "microbench/support/graph_inputs.hpp"

#include "apps/graph/generate.cuh"
#include "apps/graph/readers.hpp"
#include "apps/graph/undirected.hpp"

#include <map>
#include <utility>

namespace bench {

namespace {

std::vector<std::string> const all{"rmat22",   "uniform23", "road24m", "rome99",      "luxembourg",
                                   "facebook", "rmat8",     "rmat24",  "empty_levels"};

template <class Generator>
graph_input by(Generator const& generator) {
  return {generator.vertices(), [=] { return to_host(graph::generate_on_device(generator)); }};
}
graph_input in(std::string const& path, std::uint64_t vertices) {
  return {vertices, [=] {
            graph::edge_list g = graph::read_graph(path);
            make_undirected(g);
            return g;
          }};
}

/// Graph of a path of 64 vertices and of unconnected pairs of vertices. The number of vertices is
/// about that of the vertices with arcs in the R-MAT graph of 2^24. Each level of a search has one
/// vertex, so a search measures the time of levels without work.
graph_input path_and_pairs() {
  constexpr graph::vertex path = 64, vertices = 9'000'000;
  return {vertices, [] {
            graph::edge_list g;
            g.vertices = vertices;
            g.directed = false;
            for (graph::vertex v = 1; v < vertices; v += v < path ? 1 : 2) {
              g.from.push_back(v - 1);
              g.to.push_back(v);
            }
            return g;
          }};
}

}  // namespace

graph_inputs::graph_inputs(program& p, std::vector<std::string> usual)
    : program_{p}, usual_{std::move(usual)} {
  p.add_names("--input", names_, all, "graphs");
  p.options()
      .add_option("--data", data_, "folder of the real graphs")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
}

std::vector<std::pair<std::string, graph_input>> graph_inputs::chosen() const {
  std::map<std::string, graph_input> const known{
      {"rmat22", by(graph::rmat{{.scale = 22, .edge_factor = 8}})},
      {"rmat8", by(graph::rmat{{.scale = 8, .edge_factor = 8}})},
      {"rmat24", by(graph::rmat{{.scale = 24, .edge_factor = 16}})},
      {"empty_levels", path_and_pairs()},
      {"uniform23", by(graph::uniform{{.vertices = 1 << 23, .edges = 1 << 25}})},
      {"road24m", by(graph::road_grid{{.rows = 4899, .columns = 4899}})},
      {"rome99", in(data_ + "/rome99.gr", 3353)},
      {"luxembourg", in(data_ + "/luxembourg_osm.mtx", 114599)},
      {"facebook", in(data_ + "/facebook_combined.txt", 4039)}};
  std::vector<std::string> names = names_;
  if (names.empty() && program_.simulated()) names = {"rmat8"};
  if (names.empty()) names = usual_;
  std::vector<std::pair<std::string, graph_input>> chosen;
  for (std::string const& name : names) chosen.emplace_back(name, known.at(name));
  return chosen;
}

}  // namespace bench
