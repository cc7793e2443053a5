// SPDX-License-Identifier: Apache-2.0
// The contention benchmark: locks, atomics, sorting and Warden on the same keys.

#include "microbench/contention/points.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"contention", "Locks, atomics, sorting and Warden on the same keys.", argc,
                         argv};
  std::vector<std::uint32_t> keys;
  std::vector<std::string> operations{"push", "add", "update"}, workloads;
  std::string ids, facebook = "apps/data/facebook_combined.txt";
  program.add_numbers("--keys", keys, 1u << 28, "numbers of records");
  program.add_names("--operation", operations, {"push", "add", "update"}, "operations");
  program.add_names("--workload", workloads, {"uniform", "zipf099", "hot90", "facebook"},
                    "workloads");
  program.add_file("--ids", ids, "file of record ids, used instead of the workloads");
  program.add_file("--facebook", facebook, "edge list for the workload facebook");
  if (!program.parse(contention::arms(), argc, argv)) return program.exit_code();
  if (keys.empty()) {
    keys = program.simulated() ? std::vector<std::uint32_t>{1, 32, 256, 1024}
                               : std::vector<std::uint32_t>{1,    32,   128,   256,    512,
                                                            1024, 4096, 32768, 131072, 1048576};
  }
  if (workloads.empty()) {
    workloads = {"uniform", "zipf099"};
    if (!program.simulated()) workloads.insert(workloads.end(), {"hot90", "facebook"});
  }
  return program.run([&](bench::program::points& points) {
    for (std::string const& operation : operations) {
      if (!ids.empty()) {
        points.push_back(contention::make_point(operation, "ids", 0, ids));
        continue;
      }
      for (std::string const& workload : workloads) {
        // These workloads have fixed numbers of keys.
        if (workload == "facebook" || workload == "hot90") {
          points.push_back(contention::make_point(operation, workload, 0,
                                                  workload == "facebook" ? facebook : ""));
          continue;
        }
        for (std::uint32_t k : keys)
          points.push_back(contention::make_point(operation, workload, k, ""));
      }
    }
  });
}
