// SPDX-License-Identifier: Apache-2.0
// Command max_flow FILE: finds a maximum flow and a minimum cut of a network.

#include "apps/graph/file_argument.hpp"
#include "apps/graph/undirected.hpp"
#include "apps/max_flow/answer.hpp"
#include "apps/max_flow/audit.cuh"
#include "apps/max_flow/device_network.cuh"
#include "apps/max_flow/flow.cuh"
#include "apps/max_flow/reference.hpp"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/progress_line.hpp"

#include <warden/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using graph::edge_list;
using number = unsigned long long;  // for printf

struct options {
  graph::file_argument file;
  std::string arm = "auto", flow_file, cut_file;
  std::optional<std::uint64_t> source, sink;
  max_flow::flow_options how;
  bool is_undirected = false, has_reference = false;
};

/// Returns the vertex with that name in the file.
graph::vertex vertex_named(edge_list const& g, std::string const& option, std::uint64_t name,
                           std::string const& file) {
  if (auto const v = g.vertex_called(name)) return *v;
  throw std::runtime_error{"--" + option + ": " + std::to_string(name) + " is no vertex of " +
                           file};
}

graph::terminals ends_of(edge_list const& g, options const& o) {
  std::string const& file = o.file.path;
  graph::terminals ends = g.ends.value_or(graph::terminals{});
  auto const choose = [&](std::string const& which, std::optional<std::uint64_t> const& name,
                          graph::vertex& end) {
    if (name) end = vertex_named(g, which, *name, file);
    if (end == graph::no_vertex) {
      throw std::runtime_error{file + ": names no " + which + "; choose one by --" + which +
                               " VERTEX"};
    }
  };
  choose("source", o.source, ends.source);
  choose("sink", o.sink, ends.sink);
  if (ends.source == ends.sink) {
    throw std::runtime_error{file + ": source and sink are one vertex, " +
                             std::to_string(g.name_of(ends.source))};
  }
  return ends;
}

/// Returns the network of a file, with capacities. An edge of an undirected graph becomes two
/// edges.
edge_list read_network(options const& o) {
  edge_list g = o.file.read("max_flow");
  if (o.is_undirected) make_undirected(g);
  if (g.edges() != 0 && !g.is_weighted())
    throw std::runtime_error{o.file.path + ": the graph has no weights to be capacities"};
  if (g.directed) return g;
  std::vector<graph::vertex> const from = g.from;
  std::vector<graph::weight> const weights = g.weights;
  g.from.insert(g.from.end(), g.to.begin(), g.to.end());
  g.to.insert(g.to.end(), from.begin(), from.end());
  g.weights.insert(g.weights.end(), weights.begin(), weights.end());
  g.directed = true;
  return g;
}

template <class T>
std::vector<T> on_host(T const* from, std::size_t n) {
  std::vector<T> host(n);
  warden::copy(host.data(), from, n);
  warden::stream_ref{}.synchronize();
  return host;
}

/// Returns false if the reference has another value.
bool compare(max_flow::device_network const& rows, graph::terminals const& ends,
             std::uint64_t value) {
  bool same = true;
  auto const say = [&](char const* name, max_flow::reference_flow const& found) {
    same = same && found.value == value;
    std::printf("%s: %llu in %.3f s on one core\n", name, static_cast<number>(found.value),
                found.seconds);
  };
  say("Boost's push-relabel", max_flow::push_relabel(rows.rows(), ends));
  say("Boost's Boykov-Kolmogorov", max_flow::boykov_kolmogorov(rows.rows(), ends));
  return same;
}

int find(options const& o) {
  std::optional<apps::output_file> flow_file, cut_file;
  if (!o.flow_file.empty()) flow_file.emplace(o.flow_file);
  if (!o.cut_file.empty()) cut_file.emplace(o.cut_file);
  edge_list const g = read_network(o);
  graph::terminals const ends = ends_of(g, o);
  max_flow::device_network const rows{g};
  max_flow::network const net = rows.between(ends);
  std::string const arm = o.arm == "auto" ? max_flow::fastest_arm(net) : o.arm;
  max_flow::flow_finder finder{net, arm, o.how};
  finder.tune();
  {
    apps::progress_line line;
    finder.find([&](max_flow::flow_progress const& p) {
      line.show([&] {
        return std::to_string(p.iterations) + " iterations, " + std::to_string(p.active) +
               " active vertices, flow " + std::to_string(p.flow) +
               (p.is_back ? ", and excess goes back" : "");
      });
    });
  }
  auto const& facts = finder.facts();
  std::string const wrong = error_text(audit(net, finder.residual(), finder.sides()), facts.value);
  if (!wrong.empty()) {
    std::fprintf(stderr, "max_flow: the audit failed: %s\n", wrong.c_str());
    return 1;
  }
  auto const a =
      max_flow::answer_of(g, rows.rows(), facts.value, on_host(finder.residual(), net.arcs),
                          on_host(finder.sides(), net.vertices));
  if (flow_file) max_flow::write_flow(*flow_file, g, a);
  if (cut_file) max_flow::write_cut(*cut_file, g, a);
  std::printf("%s: %llu vertices, %llu arcs, from %llu to %llu\n", o.file.path.c_str(),
              static_cast<number>(g.vertices), static_cast<number>(g.edges()),
              static_cast<number>(g.name_of(ends.source)),
              static_cast<number>(g.name_of(ends.sink)));
  std::printf("flow %llu, in %llu iterations and %llu global relabellings, by %s on %s\n",
              static_cast<number>(facts.value), static_cast<number>(facts.iterations),
              static_cast<number>(facts.searches), arm.c_str(),
              warden::runtime::facts(warden::runtime::current_device()).name.c_str());
  std::printf(
      "audit passed: all other vertices conserve flow, no arc exceeds its capacity, and the cut "
      "has %zu arcs of capacity %llu\n",
      a.cut.size(), static_cast<number>(facts.value));
  if (!o.has_reference || compare(rows, ends, facts.value)) return 0;
  std::fprintf(stderr, "max_flow: the references have another flow\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "A maximum flow and a minimum cut of a network: a graph whose weights are capacities.",
      "max_flow"};
  options o;
  o.file.add_to(app);
  app.add_option("--source", o.source, "source vertex, if the file names none")
      ->transform(apps::whole());
  app.add_option("--sink", o.sink, "sink vertex, if the file names none")->transform(apps::whole());
  app.add_flag("--undirected", o.is_undirected,
               "arcs are edges; if each has one back, two are one edge");
  std::vector<std::string> arms = max_flow::arm_names();
  arms.insert(arms.begin(), "auto");
  app.add_option("--arm", o.arm, "arm that pushes flow; auto: the fastest one")
      ->check(CLI::IsMember(arms))
      ->capture_default_str();
  app.add_option("--out", o.flow_file, "writes the flow to this file: DIMACS lines s and f")
      ->check(apps::file_name());
  app.add_option("--cut", o.cut_file, "writes the cut to this file: lines s, n and a")
      ->check(apps::file_name());
  app.add_option("--most-iterations", o.how.most_iterations,
                 "limit of iterations; 0, the default: 1000, and 64 for each vertex")
      ->transform(apps::whole());
  app.add_flag("--reference", o.has_reference, "also runs Boost's two algorithms on the host");
  return apps::run_command(app, argc, argv, [&] { return find(o); });
}
