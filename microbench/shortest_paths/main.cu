// SPDX-License-Identifier: Apache-2.0
// The benchmark of shortest paths: orders in which vertices are expanded.

#include "apps/graph/device_csr.cuh"
#include "apps/shortest_paths/audit.cuh"
#include "apps/shortest_paths/finder.cuh"
#include "apps/support/number_option.hpp"
#include "microbench/breadth_first/source.hpp"
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

using shortest_paths::finder;
using shortest_paths::findings;

/// Weights of graphs that have none, as `graph generate` draws them.
constexpr graph::weight largest_weight = 1000000;

/// Point of one graph; all arms search from the same vertex. The time begins with the graph in
/// device memory and ends with distances in device memory, without parents. If distances do not fit
/// 32 bits, it includes the search that found that out. An operation is an arc that leaves a
/// reached vertex, however often the arm follows it.
class path_point final : public bench::graph_point {
 public:
  path_point(std::string const& name, bench::graph_input const& input,
             shortest_paths::search_options const& how)
      : graph_point{name, input}, how_{how} {}

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    graph::edge_list g = make();
    if (!g.is_weighted()) draw_weights(g, largest_weight, 1);
    graph::device_csr const rows = build_csr(to_device(g), {graph::arcs_of::undirected});
    std::uint32_t const source = bench::search_source(rows, to_host(rows));
    std::map<std::string, bench::row> found;
    std::map<std::string, std::unique_ptr<finder>> finders;
    findings facts;
    for (std::string const& arm : s.arms) {
      auto& paths = finders[arm] = std::make_unique<finder>(rows.view(), arm, how_);
      paths->find(source);
      bench::row& r = found[arm];
      r.verified = is_right(arm, rows, source, *paths, facts);
      r.operations = facts.arcs;
    }
    bench::measure_interleaved(found, s.repetitions, [&](std::string const& arm) {
      std::unique_ptr<finder>& paths = finders.at(arm);
      // After an overflow a finder keeps 64 bits. A new one searches with 32 bits first, so that
      // each repetition counts both searches.
      if (paths->facts().is_second) {
        paths.reset();
        paths = std::make_unique<finder>(rows.view(), arm, how_);
      }
      warden::timer clock;
      clock.start();
      paths->find(source);
      clock.stop();
      return bench::run_result{clock.result(), is_right(arm, rows, source, *paths, facts)};
    });
    for (auto& [arm, r] : found) note_facts(r, *finders[arm], facts);
    return found;
  }
  bool is_right(std::string const& arm, graph::device_csr const& rows, graph::vertex source,
                finder& paths, findings& facts) {
    paths.find_parents();
    facts = shortest_paths::audit(rows.view(), source, paths.distances(), paths.parents());
    std::string const error_text = shortest_paths::error_text(facts);
    if (error_text.empty()) return true;
    std::fprintf(stderr, "%s: the audit failed: %s\n", name(arm).c_str(), error_text.c_str());
    return false;
  }
  /// Writes facts of the last repetition that explain its time to the row.
  static void note_facts(bench::row& r, finder& paths, findings const& seen) {
    shortest_paths::search_facts const& f = paths.facts();
    warden::timer clock;
    clock.start();
    paths.find_parents();
    clock.stop();
    r.counters["vertices"] = static_cast<double>(seen.reached);
    r.counters["farthest"] = static_cast<double>(seen.farthest);
    r.counters["bits"] = f.bits;
    r.counters["searches"] = f.is_second ? 2 : 1;
    r.counters["steps"] = f.steps;
    r.counters["expansions"] = f.expansions;
    r.counters["refills"] = f.refills;
    r.counters["delta"] = static_cast<double>(f.delta);
    r.counters["places_queued"] = static_cast<double>(f.places);
    r.counters["arcs_queued"] = static_cast<double>(f.arcs);
    r.counters["parents_seconds"] = clock.result().seconds;
  }

  shortest_paths::search_options how_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"shortest_paths",
                         "Shortest paths from one vertex: orders in which vertices are expanded.",
                         argc, argv};
  bench::graph_inputs const inputs{program};
  shortest_paths::search_options how;
  program.options()
      .add_option("--delta", how.delta, "width of a bucket; by default chosen and changed")
      ->transform(apps::whole(1));
  program.options()
      .add_option("--buckets", how.buckets, "number of buckets of near_far and delta_stepping")
      ->transform(apps::whole(1, shortest_paths::most_buckets));
  program.options()
      .add_option("--local-iterations", how.local_iterations,
                  "iterations of a block on the vertices that it finds itself, at most")
      ->transform(apps::whole(0, 4096));
  if (!program.parse(shortest_paths::arm_names(), argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    for (auto const& [name, input] : inputs.chosen())
      points.push_back(std::make_shared<path_point>(name, input, how));
  });
}
