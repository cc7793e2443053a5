// SPDX-License-Identifier: Apache-2.0
// The contention benchmark: locks, atomics, sorting and Warden on the same keys.

#include "microbench/contention/points.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"contention", "Locks, atomics, sorting and Warden on the same keys.", argc,
                         argv};
  std::vector<std::uint32_t> keys, sections;
  std::vector<std::string> operations{"push", "add", "update"}, workloads{"uniform", "zipf099"};
  std::string ids, facebook = "apps/data/facebook_combined.txt";
  program.add_numbers("--keys", keys, 1u << 28, "numbers of records");
  program.add_numbers("--sections", sections, 1u << 26,
                      "sections of a repetition; chosen by trial repetitions if not given");
  program.add_names("--operation", operations, contention::operations(), "operations");
  program.add_names("--workload", workloads, {"uniform", "zipf099", "hot90", "facebook"},
                    "workloads");
  program.add_file("--ids", ids, "file of record ids, used instead of the workloads");
  program.add_file("--facebook", facebook, "edge list for the workload facebook");
  if (!program.parse({"lock_as_written", "lock_tuned", "atomics", "atomics_combined", "sort",
                      "warden", "warden_bulk"},
                     argc, argv, contention::more_arms()))
    return program.exit_code();
  if (!sections.empty() && program.operations() != 0) {
    std::fprintf(stderr, "contention: --ops %u and --sections; give one of them\n",
                 program.operations());
    return 2;
  }
  if (sections.empty()) sections = {0};
  if (keys.empty()) {
    // Locks on one key spin for a minute on the simulated device.
    keys = program.simulated() ? std::vector<std::uint32_t>{32, 1024}
                               : std::vector<std::uint32_t>{1,    32,   128,   256,    512,
                                                            1024, 4096, 32768, 131072, 1048576};
  }
  return program.run([&](bench::program::points& points) {
    for (std::string const& operation : operations) {
      auto const add = [&](std::string const& workload, std::uint32_t k, std::string const& file) {
        for (std::uint32_t n : sections)
          points.push_back(contention::make_point(operation, workload, k, file, n));
      };
      if (!ids.empty()) {
        add("ids", 0, ids);
        continue;
      }
      for (std::string const& workload : workloads) {
        // These workloads have fixed numbers of keys.
        if (workload == "facebook" || workload == "hot90") {
          add(workload, 0, workload == "facebook" ? facebook : "");
          continue;
        }
        for (std::uint32_t k : keys) add(workload, k, "");
      }
    }
  });
}
