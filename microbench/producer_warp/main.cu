// SPDX-License-Identifier: Apache-2.0
// Benchmark of producer warps: blocks in which one warp copies to shared memory for the others.

#include "microbench/producer_warp/arms.hpp"
#include "microbench/producer_warp/points.hpp"
#include "microbench/producer_warp/segments.hpp"
#include "microbench/support/report.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  using namespace producer_warp;
  bench::program program{"producer_warp", "Loads by all warps, and copies by one warp of a block.",
                         argc, argv};
  std::vector<std::string> names{std::begin(operation_names), std::end(operation_names)};
  names.emplace_back("segments");
  std::vector<std::string> const row_sizes{"64", "128", "256", "512", "1024"};
  std::vector<std::string> operations = names, rows = row_sizes;
  std::vector<std::uint32_t> elements, stage{8192};
  program.add_names("--operation", operations, names, "operations");
  program.add_names("--row-bytes", rows, row_sizes, "bytes of a gathered row");
  program.add_numbers("--elements", elements, 1u << 30, "elements of 4 bytes");
  program.add_numbers("--stage-bytes", stage, 1u << 16, "bytes of a stage");
  std::vector<std::string> arms = arm_names();
  for (std::string const& arm : segment_arm_names())
    if (std::find(arms.begin(), arms.end(), arm) == arms.end()) arms.push_back(arm);
  if (!program.parse(arms, argc, argv)) return program.exit_code();
  if (elements.empty() && program.operations() != 0) elements = {program.operations()};
  if (elements.empty()) {
    elements = program.simulated()
                   ? std::vector<std::uint32_t>{2048}
                   : std::vector<std::uint32_t>{1u << 16, 1u << 20, 1u << 24, 1u << 28};
  }
  return program.run([&](bench::program::points& points) {
    abilities const device = find_abilities();
    if (!device.bulk_copies)
      std::fputs("producer_warp: no producer warps: they need compute capability 9.0\n", stderr);
    else if (!device.moves_registers)
      std::fputs("producer_warp: no rebalanced arms: they need machine code for 9.0a\n", stderr);
    for (std::string const& operation : operations) {
      for (std::uint32_t const n : elements) {
        if (operation == "segments") {
          points.push_back(make_segment_point({operation, n, 0, stage[0]}, device));
          continue;
        }
        for (std::string const& row : operation == "gather" ? rows : std::vector<std::string>{"16"})
          points.push_back(make_point(
              {operation, n, static_cast<std::uint32_t>(std::stoul(row)), stage[0]}, device));
      }
    }
  });
}
