// SPDX-License-Identifier: Apache-2.0
// Benchmark of wide records: sections that one thread runs, and sections that several lanes of a
// warp run.

#include "microbench/support/report.hpp"
#include "microbench/wide_records/points.hpp"

#include <cstdint>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"wide_records", "Sections on records of 256 bytes and of 1 KB.", argc,
                         argv};
  std::vector<std::string> const all{"neighbours", "cache"}, all_workloads{"uniform", "zipf099"};
  std::vector<std::string> operations = all, workloads = all_workloads;
  std::vector<std::uint32_t> keys;
  program.add_names("--operation", operations, all, "operations");
  program.add_names("--workload", workloads, all_workloads, "workloads");
  program.add_numbers("--keys", keys, 1u << 22, "numbers of records");
  if (!program.parse(wide_records::arm_names, argc, argv)) return program.exit_code();
  if (keys.empty())
    keys = program.simulated() ? std::vector<std::uint32_t>{64}
                               : std::vector<std::uint32_t>{1u << 12, 1u << 14, 1u << 17, 1u << 20};
  return program.run([&](bench::program::points& points) {
    for (std::string const& operation : operations) {
      for (std::string const& workload : workloads) {
        for (std::uint32_t const k : keys) {
          auto w = bench::workload::named(workload, k, "");
          points.push_back(operation == "cache"
                               ? wide_records::make_cache_point(std::move(w))
                               : wide_records::make_neighbours_point(std::move(w)));
        }
      }
    }
  });
}
