// SPDX-License-Identifier: Apache-2.0
// The benchmark of deferred sections: costs of sending them, of a small run, of making a log, and
// of combining.

#include "microbench/deferred/points.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>

int main(int argc, char** argv) {
  using namespace deferred_bench;
  bench::program program{"deferred", "Sections that a plain kernel defers to a log.", argc, argv};
  auto arms = senders;
  arms.insert(arms.end(), sample_arms.begin(), sample_arms.end());
  if (!program.parse(arms, argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    // Fewer records on the simulated device, which take host memory and time to check.
    auto const keys = [&](std::uint32_t count) { return program.simulated() ? 1024 : count; };
    for (unsigned const bytes : sizes) points.push_back(make_send_point(bytes, keys(1u << 20)));
    points.push_back(make_small_point(/*on_chip*/ false, keys(1u << 24)));
    points.push_back(make_small_point(/*on_chip*/ true, keys(1u << 12)));
    for (bool const uniform : {true, false}) {
      for (std::uint32_t const count : {1u << 10, 1u << 12, 1u << 17, 1u << 20}) {
        if (keys(count) == count) points.push_back(make_sample_point(uniform, count));
      }
    }
    for (unsigned const bytes : sizes) points.push_back(make_memory_point(bytes, keys(1u << 20)));
  });
}
