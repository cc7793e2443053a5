// SPDX-License-Identifier: Apache-2.0
// The hash table benchmark: the same table on Warden, by executor, under locks and by atomics.

#include "microbench/hash_table/points.cuh"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"hash_table", "A hash table on Warden, under locks and by atomics.", argc,
                         argv};
  std::vector<std::string> operations{"count", "assign", "churn", "update"};
  std::vector<std::uint32_t> keys;
  std::string facebook = "apps/data/facebook_combined.txt";
  program.add_names("--operation", operations, {"count", "assign", "churn", "update"},
                    "operations");
  program.add_numbers("--keys", keys, 1u << 26, "keys of the drawn workloads");
  program.add_file("--facebook", facebook, "edge list for the workload facebook");
  if (!program.parse({"lock_tuned", "atomics", "warden_deferred", "warden_deferred_runs",
                      "warden_deferred_sequential"},
                     argc, argv))
    return program.exit_code();
  auto const make_point = [](std::string const& operation, bench::workload w) {
    return operation == "count"    ? hash_table_bench::make_count_point(std::move(w))
           : operation == "assign" ? hash_table_bench::make_assign_point(std::move(w))
           : operation == "churn"  ? hash_table_bench::make_churn_point(std::move(w))
                                   : hash_table_bench::make_update_point(std::move(w));
  };
  // Counting has tables of several sizes, up to sizes that do not fit on chip.
  auto const keys_of = [&](std::string const& operation, std::string const& workload) {
    if (!keys.empty()) return keys;
    if (program.simulated()) return std::vector<std::uint32_t>{256};
    if (operation != "count") return std::vector<std::uint32_t>{1u << 20};
    if (workload == "uniform")
      return std::vector<std::uint32_t>{1u << 12, 1u << 20, 1u << 22, 1u << 26};
    return std::vector<std::uint32_t>{1u << 12, 1u << 20};
  };
  return program.run([&](bench::program::points& points) {
    for (std::string const& operation : operations) {
      points.push_back(make_point(operation, bench::workload::named("facebook", 0, facebook)));
      for (std::string const workload : {"uniform", "zipf099"}) {
        for (std::uint32_t const n : keys_of(operation, workload))
          points.push_back(make_point(operation, bench::workload::named(workload, n, "")));
      }
    }
  });
}
