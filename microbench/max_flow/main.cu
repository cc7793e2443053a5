// SPDX-License-Identifier: Apache-2.0
// The benchmark of maximum flows: the same iterations with pushes under locks, by atomics and on
// Warden. On demand also sequential algorithms of other libraries.

#include "apps/graph/generate.cuh"
#include "apps/graph/readers.hpp"
#include "apps/max_flow/audit.cuh"
#include "apps/max_flow/device_network.cuh"
#include "apps/max_flow/flow.cuh"
#include "apps/max_flow/reference.hpp"
#include "apps/support/number_option.hpp"
#include "microbench/support/graph_inputs.hpp"
#include "microbench/support/measure_interleaved.hpp"
#include "microbench/support/report.hpp"

#include <warden/stream.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using max_flow::flow_finder;

/// Seconds. A slower solution is not repeated, because start-up costs, such as loading kernels, are
/// only some 0.1 % of it.
constexpr double slow_solution = 5;

/// Sequential algorithms on the host. They run once, and only on demand.
std::map<std::string, decltype(&max_flow::push_relabel)> const sequential_arms{
    {"boost_push_relabel", &max_flow::push_relabel},
    {"boost_boykov_kolmogorov", &max_flow::boykov_kolmogorov}};

/// Point of one network. The time begins with the network in device memory and ends with the flow
/// and the cut in device memory; for sequential arms, in host memory. An operation is an edge.
class flow_point final : public bench::graph_point {
 public:
  /// `known` is the value of the maximum flow, if it is known.
  flow_point(std::string name, bench::graph_input input, std::optional<std::uint64_t> known,
             max_flow::flow_options const& how)
      : graph_point{std::move(name), std::move(input)}, known_{known}, how_{how} {}

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    graph::edge_list const edges = make();
    max_flow::device_network const rows{edges};
    max_flow::network const net = rows.between(*edges.ends);
    std::map<std::string, std::unique_ptr<flow_finder>> finders;
    std::map<std::string, bench::row> found, again;
    auto const run = [&](std::string const& arm) {
      flow_finder& finder = *finders.at(arm);
      warden::timer clock;
      clock.start();
      finder.find();
      clock.stop();
      return bench::run_result{clock.result(), is_right(arm, net, finder)};
    };
    for (std::string const& arm : s.arms) {
      if (sequential_arms.contains(arm)) continue;
      auto& finder = finders[arm] = std::make_unique<flow_finder>(net, arm, how_);
      bench::row r;
      r.settings = finder->tune();
      r.operations = edges.edges();
      auto const first = run(arm);
      r.verified = first.verified;
      r.seconds = first.cost.seconds;
      r.counters["runs"] = 1;
      (r.seconds > slow_solution ? found : again)[arm] = r;
    }
    bench::measure_interleaved(again, s.repetitions, run);
    found.merge(again);
    for (auto& [arm, r] : found) note_facts(r, finders[arm]->facts());
    for (std::string const& arm : s.arms) {
      if (!sequential_arms.contains(arm)) continue;
      // Sequential arms return only a value, which must be that of an audited flow.
      if (finders.empty()) finders["atomics"] = find_one(net, "atomics");
      found[arm] = run_once(arm, rows.rows(), *edges.ends, finders.begin()->second->facts().value);
      found[arm].operations = edges.edges();
    }
    for (auto& [arm, r] : found) r.counters["vertices"] = static_cast<double>(edges.vertices);
    return found;
  }
  /// Finds a flow. Throws std::runtime_error if the audit of the flow fails.
  std::unique_ptr<flow_finder> find_one(max_flow::network const& net, std::string const& arm) {
    auto finder = std::make_unique<flow_finder>(net, arm, how_);
    finder->find();
    if (!is_right(arm, net, *finder)) throw std::runtime_error{"no flow to compare with"};
    return finder;
  }
  bench::row run_once(std::string const& arm, graph::csr const& rows, graph::terminals const& ends,
                      std::uint64_t wanted) {
    auto const [value, seconds] = sequential_arms.at(arm)(rows, ends);
    bench::row r;
    r.seconds = seconds;
    r.verified = value == wanted;
    r.counters["flow"] = static_cast<double>(value);
    r.counters["runs"] = 1;
    return r;
  }
  bool is_right(std::string const& arm, max_flow::network const& net, flow_finder const& finder) {
    std::uint64_t const value = finder.facts().value;
    std::string error_text =
        max_flow::error_text(audit(net, finder.residual(), finder.sides()), value);
    if (error_text.empty() && value != known_.value_or(value))
      error_text =
          "a flow of " + std::to_string(value) + "; " + std::to_string(*known_) + " is known";
    if (error_text.empty()) return true;
    std::fprintf(stderr, "%s: the audit failed: %s\n", name(arm).c_str(), error_text.c_str());
    return false;
  }
  /// Writes facts of the last repetition that explain its time to the row.
  static void note_facts(bench::row& r, max_flow::flow_facts const& f) {
    r.counters["flow"] = static_cast<double>(f.value);
    r.counters["rounds"] = static_cast<double>(f.iterations);
    r.counters["rounds_back"] = static_cast<double>(f.iterations_back);
    r.counters["searches"] = static_cast<double>(f.searches);
    r.counters["levels"] = static_cast<double>(f.levels);
    r.counters["pushes"] = static_cast<double>(f.pushes);
    r.counters["relabels"] = static_cast<double>(f.relabels);
  }

  std::optional<std::uint64_t> known_;
  max_flow::flow_options how_;
};

template <class Generator>
bench::graph_input by(Generator const& generator) {
  return {generator.vertices(), [=] { return generate(generator); }};
}

/// The network with vertices in random order: neighbours are anywhere.
template <class Generator>
bench::graph_input shuffled(Generator const& generator) {
  return {generator.vertices(), [=] {
            graph::edge_list g = generate(generator);
            shuffle_vertices(g, 1);
            return g;
          }};
}

/// A file of the folder `--data`, and the value of its maximum flow.
struct known_file {
  std::string path;
  std::uint64_t vertices, flow;
};
std::map<std::string, known_file> const files{{"dimacs_sample", {"dimacs_sample.max", 6, 15}},
                                              {"washington_4x4", {"washington.max", 18, 49252}}};

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"max_flow",
                         "Maximum flows and minimum cuts: under locks, by atomics and on Warden.",
                         argc, argv};
  std::map<std::string, bench::graph_input> const made{
      {"washington_8x10", by(graph::washington{{.rows = 8, .columns = 10}})},
      {"washington_512x512", by(graph::washington{{.rows = 512, .columns = 512}})},
      {"washington_1024x1024", by(graph::washington{{.rows = 1024, .columns = 1024}})},
      {"washington_2048x2048", by(graph::washington{{.rows = 2048, .columns = 2048}})},
      {"washington_4096x4096", by(graph::washington{{.rows = 4096, .columns = 4096}})},
      {"washington_8192x4096", by(graph::washington{{.rows = 8192, .columns = 4096}})},
      {"washington_1024x1024_shuffled",
       shuffled(graph::washington{{.rows = 1024, .columns = 1024}})},
      {"rmf_wide_256x16_shuffled", shuffled(graph::rmf{{.a = 256, .b = 16}})},
      {"rmf_long_3x9", by(graph::rmf{{.a = 3, .b = 9}})},
      {"rmf_long_32x1024", by(graph::rmf{{.a = 32, .b = 1024}})},
      {"rmf_wide_5x2", by(graph::rmf{{.a = 5, .b = 2}})},
      {"rmf_wide_256x16", by(graph::rmf{{.a = 256, .b = 16}})},
      {"image_10x10", by(graph::image_grid{{.rows = 10, .columns = 10, .patch = 4}})},
      {"image_2000x2000", by(graph::image_grid{{.rows = 2000, .columns = 2000}})}};
  std::vector<std::string> all;
  for (auto const& [name, make] : made) all.push_back(name);
  for (auto const& [name, file] : files) all.push_back(name);
  std::vector<std::string> inputs;
  std::string data = "apps/data";
  max_flow::flow_options how;
  program.add_names("--input", inputs, all, "networks");
  program.options()
      .add_option("--data", data, "folder of the files")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  program.options()
      .add_option(
          "--iterations-per-level", how.iterations_a_level,
          "iterations between two global relabellings, for each level of the previous one; 0: "
          "the arm's own")
      ->transform(apps::real(0, 1e9))
      ->capture_default_str();
  // A repetition takes up to 2 s, so that 3 repetitions of all arms take a minute.
  program.set_repetitions(3);
  std::vector<std::string> on_demand;
  for (auto const& [name, algorithm] : sequential_arms) on_demand.push_back(name);
  if (!program.parse(max_flow::arm_names(), argc, argv, on_demand)) return program.exit_code();
  if (inputs.empty()) {
    inputs = program.simulated()
                 ? std::vector<std::string>{"washington_8x10", "rmf_long_3x9", "rmf_wide_5x2",
                                            "image_10x10"}
                 : std::vector<std::string>{"dimacs_sample",      "washington_4x4",
                                            "washington_512x512", "washington_1024x1024",
                                            "rmf_long_32x1024",   "image_2000x2000"};
  }
  return program.run([&](bench::program::points& points) {
    for (std::string const& name : inputs) {
      if (auto const known = files.find(name); known != files.end()) {
        auto const& [path, vertices, flow] = known->second;
        bench::graph_input const input{
            vertices, [path = data + "/" + path] { return graph::read_graph(path); }};
        points.push_back(std::make_shared<flow_point>(name, input, flow, how));
      } else {
        points.push_back(std::make_shared<flow_point>(name, made.at(name), std::nullopt, how));
      }
    }
  });
}
