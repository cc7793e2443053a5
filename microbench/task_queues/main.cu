// SPDX-License-Identifier: Apache-2.0
// The benchmark of task queues.

#include "microbench/support/report.hpp"
#include "microbench/task_queues/points.hpp"

#include <cstdint>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  using namespace task_queues;
  bench::program program{"task_queues", "Queues of tasks that push tasks.", argc, argv};
  std::vector<std::string> works{"pairs", "tree", "queens"};
  program.add_names("--work", works, works, "parts of the benchmark");
  if (!program.parse(arms, argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    bool const simulated = program.simulated();
    auto const pairs = simulated ? std::vector<std::uint32_t>{256}
                                 : std::vector<std::uint32_t>{256, 1024, 8448, 33792, 135168};
    std::uint32_t const tasks = simulated ? 200 : 1u << 21;
    auto const queens =
        simulated ? std::vector<std::uint32_t>{7} : std::vector<std::uint32_t>{13, 15};
    auto const rows_alone =
        simulated ? std::vector<std::uint32_t>{0, 3} : std::vector<std::uint32_t>{0, 4, 6, 9};
    for (std::string const& work : works) {
      if (work == "pairs") {
        for (std::uint32_t const threads : pairs) points.push_back(make_pairs_point(threads));
      } else if (work == "queens") {
        for (std::uint32_t const rows : rows_alone) {
          for (std::uint32_t const n : queens) points.push_back(make_queens_point(n, rows));
        }
      } else {
        for (std::string const& tree : trees) {
          for (std::string const& cost : costs)
            points.push_back(make_tree_point(tree, cost, tasks));
        }
      }
    }
  });
}
