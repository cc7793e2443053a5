// SPDX-License-Identifier: Apache-2.0
// Command spanning_forest FILE: finds and checks the minimum spanning forest of a graph.

#include "apps/graph/file_argument.hpp"
#include "apps/graph/undirected.hpp"
#include "apps/graph/writers.hpp"
#include "apps/spanning_forest/forest.cuh"
#include "apps/spanning_forest/kruskal.hpp"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/progress_line.hpp"

#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

using number = unsigned long long;  // for printf

struct options {
  graph::file_argument file;
  std::string arm = "atomics", out, out_format;
  std::uint64_t seed = 1;
  graph::weight largest_weight = 1000000;
  bool draws_weights = false, shows_iterations = false;
};

/// Returns the forest as a graph, with the names of the file's vertices.
graph::edge_list forest_of(graph::edge_list const& g, std::vector<std::uint32_t> const& edges) {
  graph::edge_list forest;
  forest.vertices = g.vertices;
  forest.directed = false;
  forest.first_name = g.first_name;
  forest.names = g.names;
  for (std::uint32_t const e : edges) {
    forest.from.push_back(g.from[e]);
    forest.to.push_back(g.to[e]);
    forest.weights.push_back(g.weights[e]);
  }
  return forest;
}

void print_iterations(std::vector<spanning_forest::iteration_facts> const& iterations) {
  std::printf("%12s%12s%12s\n", "components", "candidates", "set aside");
  for (auto const& r : iterations) {
    std::printf("%12u%12u%12u\n", r.components, r.candidates, r.set_aside);
  }
}

int find(options const& o) {
  auto const out_format =
      o.out_format.empty() ? std::nullopt : std::optional{graph::format_named(o.out_format)};
  std::optional<apps::output_file> out;
  if (!o.out.empty()) {
    graph::check_output(o.out, out_format, false);
    out.emplace(o.out);
  }
  graph::edge_list g = o.file.read("spanning_forest");
  make_undirected(g);
  if (!g.is_weighted() || o.draws_weights) {
    draw_weights(g, o.largest_weight, o.seed);
    std::printf("weights: drawn from 1 to %u with seed %llu\n", o.largest_weight,
                static_cast<number>(o.seed));
  }
  std::optional<apps::progress_line> line;
  // A new line for each step, so that short steps are shown too.
  auto const show = [&](char const* what) {
    line.emplace().show([&] { return std::string{what}; });
  };
  show("rows of arcs");
  graph::device_csr const rows =
      build_csr(to_device(g), {.arcs = graph::arcs_of::undirected, .edges = true});
  spanning_forest::forest_finder finder{rows.view(), o.arm};
  show("finding the forest");
  std::string const settings = finder.tune();
  warden::timer clock;
  clock.start();
  finder.find();
  clock.stop();
  double const seconds = clock.result().seconds;

  show("checking");
  std::vector<std::uint32_t> const edges = finder.edges_to_host();
  auto const wanted = spanning_forest::kruskal(g);
  std::string const error_text = spanning_forest::error_text(g, edges, wanted);
  line.reset();
  if (!error_text.empty()) {
    std::fprintf(stderr, "spanning_forest: the check failed: the forest has %s\n",
                 error_text.c_str());
    return 1;
  }
  if (o.shows_iterations) print_iterations(finder.iterations());
  std::printf("%s: %llu vertices, %llu edges\n", o.file.path.c_str(),
              static_cast<number>(g.vertices), static_cast<number>(g.edges()));
  std::printf("forest: %llu edges of weight %llu in %llu trees\n",
              static_cast<number>(wanted.edges), static_cast<number>(wanted.weight),
              static_cast<number>(g.vertices - wanted.edges));
  std::printf("found by %s%s%s in %zu iterations", o.arm.c_str(), settings.empty() ? "" : ", ",
              settings.c_str(), finder.iterations().size());
  if (seconds > 0) std::printf(" and %.3f ms", 1e3 * seconds);
  std::printf(" on %s\n", warden::runtime::facts(warden::runtime::current_device()).name.c_str());
  std::printf("checked: no cycle, and the edges and weight of Kruskal's forest\n");
  if (out) {
    std::string const lost = graph::write_graph(
        *out, forest_of(g, edges), "minimum spanning forest of " + o.file.name(), out_format);
    if (!lost.empty()) std::fprintf(stderr, "spanning_forest: %s\n", lost.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "The minimum spanning forest of a graph, checked. Arcs are edges; if each has one back, two "
      "are one edge.",
      "spanning_forest"};
  options o;
  o.file.add_to(app);
  app.add_option("--arm", o.arm, "arm that finds the lightest edge of each component")
      ->check(CLI::IsMember(spanning_forest::arm_names()))
      ->capture_default_str();
  app.add_option("--out", o.out, "writes the forest to this file")->check(apps::file_name());
  app.add_option("--out-format", o.out_format, "format of that file; by default that of its ending")
      ->check(CLI::IsMember(graph::format_names()));
  auto* const draw = app.add_option("--draw-weights", o.largest_weight,
                                    "draws weights, uniform from 1 to this, even if the file "
                                    "has some; the default if it has none");
  draw->transform(apps::whole(1, graph::most_weight))->capture_default_str();
  app.add_option("--seed", o.seed, "seed of drawn weights")
      ->transform(apps::whole())
      ->capture_default_str();
  app.add_flag("--iterations", o.shows_iterations, "prints the edges left in each iteration");
  return apps::run_command(app, argc, argv, [&] {
    o.draws_weights = o.file.skips_weights = draw->count() != 0;
    return find(o);
  });
}
