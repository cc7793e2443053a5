// SPDX-License-Identifier: Apache-2.0
// The benchmark of minimum spanning forests: the same rounds with the lightest edges found under
// locks, by atomics and on Warden.

#include "apps/graph/device_csr.cuh"
#include "apps/graph/readers.hpp"
#include "apps/graph/undirected.hpp"
#include "apps/spanning_forest/forest.cuh"
#include "apps/spanning_forest/kruskal.hpp"
#include "microbench/support/by_turns.hpp"
#include "microbench/support/report.hpp"

#include <warden/timer.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using spanning_forest::forest_finder;

/// One graph, by all arms. The time begins with the graph in device memory and ends with the
/// numbers of the forest's edges there.
class forest_point final : public bench::point {
 public:
  using maker = std::function<graph::edge_list()>;

  /// The point of a graph that `make` makes, with so many vertices.
  forest_point(std::string input, std::uint64_t vertices, maker make)
      : input_{std::move(input)}, vertices_{vertices}, make_{std::move(make)} {}

  [[nodiscard]] bool has(std::string const&) const override { return true; }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "find/" + input_ + "/" + arm + "/keys:" + std::to_string(vertices_);
  }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    graph::edge_list const g = make_();
    graph::device_csr const rows =
        build_csr(to_device(g), {.arcs = graph::arcs_of::undirected, .edges = true});
    auto const wanted = spanning_forest::kruskal(g);
    std::map<std::string, std::unique_ptr<forest_finder>> finders;
    std::map<std::string, bench::row> found;
    for (std::string const& arm : s.arms) {
      auto& finder = finders[arm] = std::make_unique<forest_finder>(rows.view(), arm);
      bench::row& r = found[arm];
      r.settings = finder->tune();
      finder->find();
      std::string const complaint = spanning_forest::complaint(g, finder->edges_to_host(), wanted);
      if (!complaint.empty())
        std::fprintf(stderr, "%s: the forest has %s\n", name(arm).c_str(), complaint.c_str());
      r.verified = complaint.empty();
      r.operations = g.edges();
    }
    if (finders.empty()) return found;
    // What was checked: all later ones are alike, whoever finds them.
    auto const forest = finders.begin()->second->edges_to_host();
    bench::by_turns(found, s.repetitions, [&](std::string const& arm) {
      forest_finder& finder = *finders.at(arm);
      warden::timer clock;
      clock.start();
      finder.find();
      clock.stop();
      return bench::run_result{clock.result(), finder.edges_to_host() == forest};
    });
    for (auto& [arm, r] : found) {
      note_rounds(r, *finders[arm]);
      r.counters["vertices"] = static_cast<double>(g.vertices);
      r.counters["forest_edges"] = static_cast<double>(wanted.edges);
    }
    return found;
  }
  static void note_rounds(bench::row& r, forest_finder const& finder) {
    double offered = 0;
    for (auto const& round : finder.rounds()) offered += 2. * round.candidates;
    r.counters["rounds"] = static_cast<double>(finder.rounds().size());
    r.counters["offers"] = offered;
  }

  std::string input_;
  std::uint64_t vertices_;
  maker make_;
};

graph::edge_list read(std::string const& path) {
  graph::edge_list g = graph::read_graph(path);
  make_undirected(g);
  if (!g.is_weighted()) draw_weights(g, 1000000, 1);
  return g;
}

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"spanning_forest",
                         "Minimum spanning forests: under locks, by atomics and on Warden.", argc,
                         argv};
  std::vector<std::string> const all{"rmat22",     "uniform23", "road24m", "rome99",
                                     "luxembourg", "facebook",  "rmat8"};
  std::vector<std::string> inputs;
  std::string data = "apps/data";
  program.add_names("--input", inputs, all, "graphs");
  program.options()
      .add_option("--data", data, "the folder of the real graphs")
      ->capture_default_str();
  if (!program.parse(spanning_forest::arm_names(), argc, argv)) return program.exit_code();
  if (inputs.empty()) {
    // Threads that spin for a hot lock are dear on the simulated device.
    inputs = program.simulated() ? std::vector<std::string>{"rmat8"}
                                 : std::vector<std::string>(all.begin(), all.end() - 1);
  }
  using made = std::pair<std::uint64_t, forest_point::maker>;
  auto const by = [](auto const& generator) {
    return made{generator.vertices(),
                [=] { return to_host(graph::generate_on_device(generator)); }};
  };
  auto const in = [&](char const* file, std::uint64_t vertices) {
    return made{vertices, [=] { return read(data + "/" + file); }};
  };
  std::map<std::string, made> const makers{
      {"rmat22", by(graph::rmat{{.scale = 22, .edge_factor = 8}})},
      {"rmat8", by(graph::rmat{{.scale = 8, .edge_factor = 8}})},
      {"uniform23", by(graph::uniform{{.vertices = 1 << 23, .edges = 1 << 25}})},
      {"road24m", by(graph::road_grid{{.rows = 4899, .columns = 4899}})},
      {"rome99", in("rome99.gr", 3353)},
      {"luxembourg", in("luxembourg_osm.mtx", 114599)},
      {"facebook", in("facebook_combined.txt", 4039)}};
  return program.run([&](bench::program::points& points) {
    for (std::string const& input : inputs) {
      auto const& [vertices, make] = makers.at(input);
      points.push_back(std::make_shared<forest_point>(input, vertices, make));
    }
  });
}
