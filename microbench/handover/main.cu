// SPDX-License-Identifier: Apache-2.0
// The handover benchmark: the time from the end of one section to the start of the next on the same
// record.

#include "microbench/handover/points.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"handover", "From the end of a section to the next on its record.", argc,
                         argv};
  std::vector<std::uint32_t> keys{1, 256};
  std::vector<std::string> clocks{"nanoseconds", "cycles"}, workloads{"uniform"};
  CLI::App& options = program.options();
  options.add_option("--keys", keys, "numbers of records")
      ->delimiter(',')
      ->check(CLI::Range(1u, 1u << 20));
  options.add_option("--clock", clocks, "clocks")
      ->delimiter(',')
      ->check(CLI::IsMember({"nanoseconds", "cycles"}));
  options.add_option("--workload", workloads, "workloads")
      ->delimiter(',')
      ->check(CLI::IsMember({"uniform", "zipf099"}));
  if (!program.parse(handover::arms, argc, argv)) return program.exit_code();
  std::vector<std::shared_ptr<bench::point>> points;
  try {
    for (std::string const& clock : clocks) {
      auto const make =
          clock == "cycles" ? &handover::make_cycles_point : &handover::make_nanoseconds_point;
      for (std::string const& workload : workloads) {
        for (std::uint32_t const k : keys) points.push_back(make(workload, k));
      }
    }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "handover: %s\n", e.what());
    return 2;
  }
  return program.run(points);
}
