// SPDX-License-Identifier: Apache-2.0
// The handover benchmark: the time from the end of one section to the start of the next on the same
// record.

#include "apps/graph/generate.cuh"
#include "apps/support/number_option.hpp"
#include "microbench/handover/forest_sections.hpp"
#include "microbench/handover/points.hpp"
#include "microbench/support/report.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

/// Workloads that are the sections of a search for a minimum spanning tree.
std::vector<std::string> const forest_workloads{"mst_rmat", "mst_r4"};
bool is_forest(std::string const& workload) {
  return std::find(forest_workloads.begin(), forest_workloads.end(), workload) !=
         forest_workloads.end();
}
/// Returns a graph like those of [Wang 2020]: rmat22, whose degrees follow a power law, or r4-2e23,
/// with 4 edges for each vertex between random vertices. Scale 22 gives the paper's sizes.
graph::edge_list make_graph(std::string const& workload, unsigned scale) {
  if (workload == "mst_rmat")
    return to_host(graph::generate_on_device(graph::rmat{{.scale = scale, .edge_factor = 8}}));
  std::uint64_t const vertices = std::uint64_t{2} << scale;
  return to_host(
      graph::generate_on_device(graph::uniform{{.vertices = vertices, .edges = 4 * vertices}}));
}

/// Names of all arms, without duplicates.
std::vector<std::string> all_arms() {
  std::vector<std::string> all = handover::single_arms;
  for (std::string const& arm : handover::pair_arms) {
    if (std::find(all.begin(), all.end(), arm) == all.end()) all.push_back(arm);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"handover", "From the end of a section to the next on its record.", argc,
                         argv};
  std::vector<std::uint32_t> keys;
  std::vector<std::string> sections{"single", "pairs"}, clocks{"nanoseconds", "cycles"},
      workloads{"uniform"};
  unsigned scale = 0;
  program.add_numbers("--keys", keys, 1u << 20,
                      "numbers of records; default: 1 and 256, for pairs 256 and 1024");
  program.add_names("--sections", sections, {"single", "pairs"},
                    "sections on one record, on pairs of records");
  program.add_names("--clock", clocks, {"nanoseconds", "cycles"},
                    "clocks that sections on one record read");
  std::vector<std::string> all_workloads{"uniform", "zipf099"};
  all_workloads.insert(all_workloads.end(), forest_workloads.begin(), forest_workloads.end());
  program.add_names(
      "--workload", workloads, all_workloads,
      "workloads; mst_rmat and mst_r4 are the sections of a search for a minimum spanning "
      "tree, each on one record, in nanoseconds");
  program.options()
      .add_option(
          "--scale", scale,
          "graphs of mst_rmat have 2^N vertices, those of mst_r4 2^(N+1); default: 22, on the "
          "simulated device 7")
      ->transform(apps::whole(4, 25));
  if (!program.parse(all_arms(), argc, argv)) return program.exit_code();
  if (scale == 0) scale = program.simulated() ? 7 : 22;
  return program.run([&](bench::program::points& points) {
    auto const add = [&](auto make, std::vector<std::uint32_t> const& by_default) {
      for (std::string const& workload : workloads) {
        if (is_forest(workload)) continue;
        for (std::uint32_t const k : keys.empty() ? by_default : keys)
          points.push_back(make(workload, k));
      }
    };
    for (std::string const& kind : sections) {
      if (kind == "pairs") {
        add(&handover::make_pairs_point, {256, 1024});
        continue;
      }
      for (std::string const& clock : clocks) {
        add(clock == "cycles" ? &handover::make_cycles_point : &handover::make_nanoseconds_point,
            {1, 256});
      }
    }
    for (std::string const& workload : workloads) {
      if (!is_forest(workload)) continue;
      points.push_back(handover::make_forest_point(
          workload, handover::forest_sections(make_graph(workload, scale))));
    }
  });
}
