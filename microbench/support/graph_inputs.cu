// SPDX-License-Identifier: Apache-2.0
// Graphs by name.

#include "microbench/support/graph_inputs.hpp"

#include "apps/graph/generate.cuh"
#include "apps/graph/readers.hpp"
#include "apps/graph/undirected.hpp"

#include <map>

namespace bench {

namespace {

std::vector<std::string> const all{"rmat22",     "uniform23", "road24m", "rome99",
                                   "luxembourg", "facebook",  "rmat8"};

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

}  // namespace

graph_inputs::graph_inputs(program& p) : program_{p} {
  p.add_names("--input", names_, all, "graphs");
  p.options()
      .add_option("--data", data_, "the folder of the real graphs")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
}

std::vector<std::pair<std::string, graph_input>> graph_inputs::chosen() const {
  std::map<std::string, graph_input> const known{
      {"rmat22", by(graph::rmat{{.scale = 22, .edge_factor = 8}})},
      {"rmat8", by(graph::rmat{{.scale = 8, .edge_factor = 8}})},
      {"uniform23", by(graph::uniform{{.vertices = 1 << 23, .edges = 1 << 25}})},
      {"road24m", by(graph::road_grid{{.rows = 4899, .columns = 4899}})},
      {"rome99", in(data_ + "/rome99.gr", 3353)},
      {"luxembourg", in(data_ + "/luxembourg_osm.mtx", 114599)},
      {"facebook", in(data_ + "/facebook_combined.txt", 4039)}};
  std::vector<std::string> names = names_;
  if (names.empty() && program_.simulated()) names = {"rmat8"};
  if (names.empty()) names.assign(all.begin(), all.end() - 1);
  std::vector<std::pair<std::string, graph_input>> asked;
  for (std::string const& name : names) asked.emplace_back(name, known.at(name));
  return asked;
}

}  // namespace bench
