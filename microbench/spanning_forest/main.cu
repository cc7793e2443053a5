// SPDX-License-Identifier: Apache-2.0
// The benchmark of minimum spanning forests: the same iterations with the lightest edges found
// under locks, by atomics and on Warden.

#include "apps/graph/device_csr.cuh"
#include "apps/spanning_forest/forest.cuh"
#include "apps/spanning_forest/kruskal.hpp"
#include "microbench/support/graph_inputs.hpp"
#include "microbench/support/measure_interleaved.hpp"
#include "microbench/support/report.hpp"

#include <warden/stream.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using spanning_forest::forest_finder;

/// Point of one graph. The time begins with the graph in device memory and ends with the numbers of
/// the forest's edges in device memory.
class forest_point final : public bench::graph_point {
 public:
  using graph_point::graph_point;

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    graph::edge_list g = make();
    if (!g.is_weighted()) draw_weights(g, 1000000, 1);
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
      std::string const error_text =
          spanning_forest::error_text(g, finder->edges_to_host(), wanted);
      if (!error_text.empty())
        std::fprintf(stderr, "%s: the forest has %s\n", name(arm).c_str(), error_text.c_str());
      r.verified = error_text.empty();
      r.operations = g.edges();
    }
    if (finders.empty()) return found;
    // This forest was checked; the forests of all other arms must be equal to it.
    auto const forest = finders.begin()->second->edges_to_host();
    bench::measure_interleaved(found, s.repetitions, [&](std::string const& arm) {
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
    for (auto const& iteration : finder.iterations()) offered += 2. * iteration.candidates;
    r.counters["rounds"] = static_cast<double>(finder.iterations().size());
    r.counters["offers"] = offered;
  }
};

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"spanning_forest",
                         "Minimum spanning forests: under locks, by atomics and on Warden.", argc,
                         argv};
  bench::graph_inputs const inputs{program};
  if (!program.parse(spanning_forest::arm_names(), argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    // The graph of the simulated device is small, because threads that spin for a hot lock are slow
    // there.
    for (auto const& [name, input] : inputs.chosen())
      points.push_back(std::make_shared<forest_point>(name, input));
  });
}
