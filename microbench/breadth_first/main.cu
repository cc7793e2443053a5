// SPDX-License-Identifier: Apache-2.0
// The benchmark of breadth-first search: ways to share the arcs of a frontier, to queue each vertex
// once, and to get places in a queue. Arms differ in one of them.

#include "apps/breadth_first/audit.cuh"
#include "apps/breadth_first/reference.hpp"
#include "apps/breadth_first/searcher.cuh"
#include "apps/graph/device_csr.cuh"
#include "microbench/breadth_first/source.hpp"
#include "microbench/support/graph_inputs.hpp"
#include "microbench/support/measure_interleaved.hpp"
#include "microbench/support/report.hpp"

#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using breadth_first::findings;
using breadth_first::searcher;

/// Point of one graph; all arms search from the same vertex. The time begins with the graph in
/// device memory and ends with levels and parents in device memory. An operation is an arc that
/// leaves a reached vertex, even if the arm did not follow it.
class search_point final : public bench::graph_point {
 public:
  using graph_point::graph_point;

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    graph::device_csr const rows = build_csr(to_device(make()), {graph::arcs_of::undirected});
    graph::csr const on_host = to_host(rows);
    std::uint32_t const source = bench::search_source(rows, on_host);
    auto const wanted = breadth_first::levels_from(on_host, source);
    std::map<std::string, bench::row> found;
    std::map<std::string, std::unique_ptr<searcher>> finders;
    findings facts;
    for (std::string const& arm : s.arms) {
      auto& finder = finders[arm] = std::make_unique<searcher>(rows.view(), rows.view(), arm);
      finder->find(source);
      facts = breadth_first::audit(rows.view(), source, finder->levels(), finder->parents());
      bench::row& r = found[arm];
      r.verified = is_right(arm, facts) && has_levels(arm, *finder, wanted);
      r.operations = facts.arcs;
    }
    bench::measure_interleaved(found, s.repetitions, [&](std::string const& arm) {
      searcher& finder = *finders.at(arm);
      warden::timer clock;
      clock.start();
      finder.find(source);
      clock.stop();
      auto const seen =
          breadth_first::audit(rows.view(), source, finder.levels(), finder.parents());
      return bench::run_result{clock.result(), is_right(arm, seen)};
    });
    for (auto& [arm, r] : found) note_facts(r, finders[arm]->facts(), facts);
    return found;
  }
  bool is_right(std::string const& arm, findings const& seen) {
    std::string const error_text = breadth_first::error_text(seen);
    if (error_text.empty()) return true;
    std::fprintf(stderr, "%s: the audit failed: %s\n", name(arm).c_str(), error_text.c_str());
    return false;
  }
  bool has_levels(std::string const& arm, searcher const& finder,
                  std::vector<std::uint32_t> const& wanted) {
    std::vector<std::uint32_t> levels(wanted.size());
    warden::copy(levels.data(), finder.levels(), levels.size());
    warden::stream_ref{}.synchronize();
    if (levels == wanted) return true;
    std::fprintf(stderr, "%s: levels are not those of a sequential search\n", name(arm).c_str());
    return false;
  }
  /// Writes facts of the last repetition that explain its time to the row. All repetitions have the
  /// same levels.
  static void note_facts(bench::row& r, breadth_first::search_facts const& f,
                         findings const& seen) {
    r.counters["vertices"] = static_cast<double>(seen.reached);
    r.counters["found"] = static_cast<double>(f.found);
    r.counters["levels"] = static_cast<double>(f.levels);
    r.counters["levels_of_one_block"] = static_cast<double>(f.alone);
    r.counters["levels_bottom_up"] = static_cast<double>(f.bottom_up);
    if (f.levels != 0) r.counters["ns_a_level"] = 1e9 * r.seconds / f.levels;
  }
};

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"breadth_first",
                         "Breadth-first search: ways to gather arcs, to cull duplicates and to "
                         "queue vertices, top-down and in both directions.",
                         argc, argv};
  bench::graph_inputs const inputs{program};
  if (!program.parse(breadth_first::arm_names(), argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    for (auto const& [name, input] : inputs.chosen())
      points.push_back(std::make_shared<search_point>(name, input));
  });
}
