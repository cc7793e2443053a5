// SPDX-License-Identifier: Apache-2.0
// Benchmark of sorts in shared memory, with and without bank conflicts.

#include "microbench/bank_conflicts/arms.hpp"
#include "microbench/bank_conflicts/inputs.hpp"
#include "microbench/bank_conflicts/points.hpp"
#include "microbench/support/report.hpp"

#include <iterator>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  using namespace bank_conflicts;
  bench::program program{"bank_conflicts", "Sorts of tiles of 1,024 keys in shared memory.", argc,
                         argv};
  std::vector<std::string> const all{std::begin(input_names), std::end(input_names)};
  std::vector<std::string> inputs = all;
  program.add_names("--input", inputs, all, "orders of the keys");
  if (!program.parse({std::begin(arm_names), std::end(arm_names)}, argc, argv))
    return program.exit_code();
  return program.run([&](bench::program::points& points) {
    for (std::string const& input : inputs) points.push_back(make_point(input));
  });
}
