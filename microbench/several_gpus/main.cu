// SPDX-License-Identifier: Apache-2.0
// The benchmark of several GPUs, whose kernels send sections to the records of all GPUs.

#include "apps/support/number_option.hpp"
#include "microbench/several_gpus/points.hpp"
#include "microbench/support/report.hpp"

#include <warden/runtime.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace several_gpus {

int gpus_of(std::string const& arm) {
  if (arm.starts_with("one_gpu")) return 1;
  if (arm.starts_with("two_gpus")) return 2;
  return arm == "four_gpus" ? 4 : 8;
}
int gpus_there() {
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  return simulated ? 2 : warden::runtime::device_count();
}

}  // namespace several_gpus

int main(int argc, char** argv) {
  using namespace several_gpus;
  bench::program program{"several_gpus", "Sections on records that are spread over GPUs.", argc,
                         argv};
  std::vector<std::uint32_t> keys{1u << 20, 1u << 24};
  std::vector<std::string> const known{"uniform", "zipf099"};
  std::vector<std::string> workloads = known;
  program.add_numbers("--keys", keys, 1u << 28, "records of all GPUs together");
  program.add_names("--workloads", workloads, known, "workloads");
  std::map<std::string, decltype(&make_push_point)> const makers{{"push", make_push_point},
                                                                 {"add", make_add_point},
                                                                 {"update", make_update_point},
                                                                 {"count", make_count_point},
                                                                 {"transfer", make_transfer_point}};
  std::vector<std::string> const all{"push", "add", "update", "count", "transfer"};
  std::vector<std::string> operations = all;
  program.add_names("--operations", operations, all, "operations");
  choices chosen;
  program.options().add_flag("--timeline", chosen.has_timeline,
                             "also record when the phases of a run end, which makes it slower");
  program.options()
      .add_option("--partitions", chosen.partitions,
                  "partitions of a rank's log, a power of two; by default the library chooses")
      ->transform(apps::whole(1, 512));
  if (!program.parse(arms, argc, argv)) return program.exit_code();
  if (program.simulated()) keys.assign(1, 1024);
  return program.run([&](bench::program::points& points) {
    for (std::string const& workload : workloads) {
      for (std::uint32_t const k : keys) {
        for (std::string const& operation : operations)
          points.push_back(makers.at(operation)(workload, k, chosen));
      }
    }
  });
}
