// SPDX-License-Identifier: Apache-2.0
// The answers benchmark: the time that a caller waits for the answer of a section, and calls per
// second.

#include "microbench/answers/points.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"answers", "Calls, whose sections return an answer to the caller.", argc,
                         argv};
  std::vector<std::uint32_t> keys{256, 1u << 20};
  program.add_numbers("--keys", keys, 1u << 20, "numbers of records");
  if (!program.parse(answers::arms, argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    for (bool const by_cycles : {false, true}) {
      for (std::uint32_t const k : keys)
        points.push_back(answers::make_latency_point(by_cycles, k));
    }
    for (std::uint32_t const k : keys) points.push_back(answers::make_block_point(k));
    for (std::uint32_t const k : keys) points.push_back(answers::make_thread_point(k));
  });
}
