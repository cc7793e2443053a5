// SPDX-License-Identifier: Apache-2.0
// The benchmark of deferred sections: what it takes to send them, and what a small run and a log
// take.

#include "microbench/deferred/points.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>

int main(int argc, char** argv) {
  using namespace deferred_bench;
  bench::program program{"deferred", "Sections that a plain kernel defers to a log.", argc, argv};
  if (!program.parse(arms, argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    // A simulated record takes host memory, and time to look at.
    auto const keys = [&](std::uint32_t count) { return program.simulated() ? 1024 : count; };
    for (unsigned const bytes : sizes) points.push_back(make_send_point(bytes, keys(1u << 20)));
    points.push_back(make_small_point(/*on_chip*/ false, keys(1u << 24)));
    points.push_back(make_small_point(/*on_chip*/ true, keys(1u << 12)));
    for (unsigned const bytes : sizes) points.push_back(make_memory_point(bytes, keys(1u << 20)));
  });
}
