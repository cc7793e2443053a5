// SPDX-License-Identifier: Apache-2.0
// The record size benchmark: executors for sections of one thread on small and large records.

#include "microbench/record_size/points.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"record_size", "Sections that change every word of their record.", argc,
                         argv};
  std::vector<std::uint32_t> keys{1024, 1u << 16};
  program.add_numbers("--keys", keys, 1u << 20, "numbers of records");
  if (!program.parse(record_size::arm_names, argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    for (unsigned const bytes : record_size::sizes) {
      for (std::uint32_t const k : keys) points.push_back(record_size::make_point(bytes, k));
    }
  });
}
