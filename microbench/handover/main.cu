// SPDX-License-Identifier: Apache-2.0
// The handover benchmark: the time from the end of one section to the start of the next on the same
// record.

#include "microbench/handover/points.hpp"
#include "microbench/support/report.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

/// Every arm once.
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
  program.add_numbers("--keys", keys, 1u << 20,
                      "numbers of records; 1 and 256 or, for pairs, 256 and 1024");
  program.add_names("--sections", sections, {"single", "pairs"},
                    "sections on one record, on pairs of records");
  program.add_names("--clock", clocks, {"nanoseconds", "cycles"},
                    "clocks of sections on one record");
  program.add_names("--workload", workloads, {"uniform", "zipf099"}, "workloads");
  if (!program.parse(all_arms(), argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    auto const add = [&](auto make, std::vector<std::uint32_t> const& by_default) {
      for (std::string const& workload : workloads) {
        for (std::uint32_t const k : keys.empty() ? by_default : keys)
          points.push_back(make(workload, k));
      }
    };
    for (std::string const& what : sections) {
      if (what == "pairs") {
        add(&handover::make_pairs_point, {256, 1024});
        continue;
      }
      for (std::string const& clock : clocks) {
        add(clock == "cycles" ? &handover::make_cycles_point : &handover::make_nanoseconds_point,
            {1, 256});
      }
    }
  });
}
