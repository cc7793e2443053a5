// SPDX-License-Identifier: Apache-2.0
// The hash table's benchmark: the same table on Warden, by executor, under locks and by atomics.

#include "microbench/hash_table/points.cuh"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"hash_table", "A hash table on Warden, under locks and by atomics.", argc,
                         argv};
  std::vector<std::string> operations{"count", "assign", "churn"};
  std::uint32_t keys = 0;
  std::string facebook = "apps/data/facebook_combined.txt";
  program.add_names("--operation", operations, {"count", "assign", "churn"}, "operations");
  program.options()
      .add_option("--keys", keys, "keys of the drawn workloads")
      ->check(CLI::Range(1u, 1u << 26));
  program.options().add_option("--facebook", facebook, "edge list for the workload facebook");
  if (!program.parse({"lock_tuned", "atomics", "warden_locks", "warden_runs"}, argc, argv))
    return program.exit_code();
  if (keys == 0) keys = program.simulated() ? 256 : 1u << 20;
  return program.run([&](bench::program::points& points) {
    for (std::string const& operation : operations) {
      for (std::string const workload : {"facebook", "uniform", "zipf099"}) {
        auto w = bench::workload::named(workload, keys, workload == "facebook" ? facebook : "");
        points.push_back(operation == "count" ? hash_table_bench::make_count_point(std::move(w))
                         : operation == "assign"
                             ? hash_table_bench::make_assign_point(std::move(w))
                             : hash_table_bench::make_churn_point(std::move(w)));
      }
    }
  });
}
