// SPDX-License-Identifier: Apache-2.0
// Command shortest_paths FILE: finds and checks shortest paths from vertices to all others.

#include "apps/graph/device_csr.cuh"
#include "apps/graph/file_argument.hpp"
#include "apps/graph/undirected.hpp"
#include "apps/shortest_paths/audit.cuh"
#include "apps/shortest_paths/finder.cuh"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/progress_line.hpp"
#include "apps/support/text_writer.hpp"

#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using graph::edge_list;
using graph::vertex;
using shortest_paths::no_distance;
using number = unsigned long long;  // for printf

struct options {
  graph::file_argument file;
  std::string arm = "delta_scan", out;
  std::vector<std::uint64_t> sources, ends;
  shortest_paths::search_options how;
  std::uint64_t seed = 1;
  graph::weight largest_weight = 1000000;
  bool draws_weights = false, is_undirected = false;
};

/// Answer for one source.
struct answer {
  vertex source;
  std::vector<std::uint64_t> distances;
  std::vector<vertex> parents;
  shortest_paths::search_facts facts;
  shortest_paths::findings found;
  double seconds;  ///< 0 on the simulated device
};

vertex vertex_of(edge_list const& g, options const& o, char const* option, std::uint64_t name) {
  if (auto const v = g.vertex_called(name)) return *v;
  throw std::runtime_error{std::string{option} + ": " + std::to_string(name) + " is no vertex of " +
                           o.file.path};
}
std::vector<vertex> vertices_of(edge_list const& g, options const& o, char const* option,
                                std::vector<std::uint64_t> const& names) {
  std::vector<vertex> all;
  for (std::uint64_t const name : names) all.push_back(vertex_of(g, o, option, name));
  return all;
}

answer find_from(vertex source, shortest_paths::finder& finder) {
  warden::timer clock;
  clock.start();
  finder.find(source);
  clock.stop();
  finder.find_parents();
  return {source, finder.distances_to_host(), finder.parents_to_host(), finder.facts(),
          {},     clock.result().seconds};
}

void write_answer(apps::text_writer& to, edge_list const& g, answer const& a) {
  to.line('s', g.name_of(a.source));
  to.line('c', a.facts.bits, "bits per distance");
  for (std::size_t v = 0; v < a.distances.size(); ++v) {
    if (a.distances[v] == no_distance) continue;
    to.line('v', g.name_of(static_cast<vertex>(v)), a.distances[v], g.name_of(a.parents[v]));
  }
}

void print_path(edge_list const& g, answer const& a, vertex end) {
  if (a.distances[end] == no_distance) {
    std::printf("to %llu: no path\n", static_cast<number>(g.name_of(end)));
    return;
  }
  std::vector<vertex> path{end};
  while (path.back() != a.source) path.push_back(a.parents[path.back()]);
  std::printf("to %llu: distance %llu, %zu arcs:", static_cast<number>(g.name_of(end)),
              static_cast<number>(a.distances[end]), path.size() - 1);
  std::for_each(path.rbegin(), path.rend(),
                [&](vertex v) { std::printf(" %llu", static_cast<number>(g.name_of(v))); });
  std::printf("\n");
}

void print_answer(edge_list const& g, options const& o, answer const& a) {
  std::printf("from %llu: %llu vertices, the farthest at distance %llu\n",
              static_cast<number>(g.name_of(a.source)), static_cast<number>(a.found.reached),
              static_cast<number>(a.found.farthest));
  std::printf("found by %s in %u steps with %u-bit distances%s", o.arm.c_str(), a.facts.steps,
              a.facts.bits, a.facts.is_second ? ", because 32 bits were too few" : "");
  if (a.seconds > 0) std::printf(", in %.3f ms", 1e3 * a.seconds);
  std::printf(" on %s\n", warden::runtime::facts(warden::runtime::current_device()).name.c_str());
}

int find(options const& o) {
  std::optional<apps::output_file> out;
  if (!o.out.empty()) out.emplace(o.out);
  edge_list g = o.file.read("shortest_paths");
  if (o.is_undirected) make_undirected(g);
  if (g.vertices == 0)
    throw std::runtime_error{o.file.path + ": the graph has no vertices, so none to begin at"};
  std::vector<vertex> sources = vertices_of(g, o, "--source", o.sources);
  if (sources.empty()) sources.push_back(0);
  std::vector<vertex> const ends = vertices_of(g, o, "--to", o.ends);
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
      build_csr(to_device(g), {g.directed ? graph::arcs_of::directed : graph::arcs_of::undirected});
  shortest_paths::finder finder{rows.view(), o.arm, o.how};
  std::optional<apps::text_writer> to;
  if (out) to.emplace(*out);
  line.reset();
  std::printf("%s: %llu vertices, %llu arcs\n", o.file.path.c_str(),
              static_cast<number>(g.vertices), static_cast<number>(rows.arcs()));
  for (vertex const source : sources) {
    show("searching");
    answer a = find_from(source, finder);
    show("checking");
    a.found = audit(rows.view(), source, finder.distances(), finder.parents());
    line.reset();
    std::string const wrong = shortest_paths::error_text(a.found);
    if (!wrong.empty()) {
      std::fprintf(stderr, "shortest_paths: the check of the paths from %llu failed: %s\n",
                   static_cast<number>(g.name_of(source)), wrong.c_str());
      return 1;
    }
    if (to) write_answer(*to, g, a);
    print_answer(g, o, a);
    for (vertex const end : ends) print_path(g, a, end);
  }
  if (to) to->commit();
  std::printf(
      "checked: no arc shortens a distance or leads to an unreached vertex, and the parents are a "
      "tree of tight arcs\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Shortest paths from vertices of a graph to all others, checked.", "shortest_paths"};
  options o;
  o.file.add_to(app);
  app.add_option("--source", o.sources,
                 "first vertex of the paths; may be repeated; by default that of the file")
      ->transform(apps::whole())
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--to", o.ends, "prints the path to this vertex; may be repeated")
      ->transform(apps::whole())
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--arm", o.arm, "arm that searches")
      ->check(CLI::IsMember(shortest_paths::arm_names()))
      ->capture_default_str();
  app.add_flag("--undirected", o.is_undirected,
               "arcs are edges; if each has one back, two are one edge");
  app.add_option("--out", o.out, "writes distances and parents to this file: lines s, c and v")
      ->check(apps::file_name());
  auto* const draw = app.add_option("--draw-weights", o.largest_weight,
                                    "draws weights, uniform from 1 to this, even if the file "
                                    "has some; the default if it has none");
  draw->transform(apps::whole(1, graph::most_weight))->capture_default_str();
  app.add_option("--seed", o.seed, "seed of drawn weights")
      ->transform(apps::whole())
      ->capture_default_str();
  app.add_option("--delta", o.how.delta,
                 "width of a bucket of distances, rounded down to a power of 2; by default chosen "
                 "and changed during the search")
      ->transform(apps::whole(1));
  app.add_option("--buckets", o.how.buckets, "number of buckets of delta_stepping and near_far")
      ->transform(apps::whole(1, shortest_paths::most_buckets));
  app.add_option("--local-iterations", o.how.local_iterations,
                 "iterations of a block on the vertices that it finds itself, at most")
      ->transform(apps::whole(0, 4096));
  app.add_flag("--wide", o.how.is_wide, "begins with distances of 64 bits");
  return apps::run_command(app, argc, argv, [&] {
    o.draws_weights = o.file.skips_weights = draw->count() != 0;
    return find(o);
  });
}
