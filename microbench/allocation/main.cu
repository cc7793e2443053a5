// SPDX-License-Identifier: Apache-2.0
// The allocation benchmark: ways for threads to get places in an output, and their cost.

#include "microbench/allocation/item_counts.hpp"
#include "microbench/allocation/points.hpp"
#include "microbench/support/report.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using points = bench::program::points;

/// Adds points of copies in which one of every n elements takes places.
void add_copies(points& to, bench::program const& program, std::vector<std::uint32_t> elements,
                std::vector<std::uint32_t> const& each) {
  // The number that was asked for, rounded up to a multiple of 4.
  if (program.operations() != 0) elements = {(program.operations() + 3) / 4 * 4};
  for (std::uint32_t const n : elements) {
    for (std::uint32_t const every : each) {
      if (!std::has_single_bit(every))
        throw std::runtime_error{"--each " + std::to_string(every) + ": a power of two"};
      to.push_back(allocation::make_copy_point(n, every));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"allocation", "Places in an output, by atomics and by scans.", argc, argv};
  std::vector<std::string> const all{"copy", "emit", "decode", "take", "histogram"},
      all_samples{"uniform", "zipf099", "one"};
  std::vector<std::string> operations = all, spreads = allocation::spreads, samples = all_samples;
  std::vector<std::uint32_t> elements, each, counters{1, 16, 256, 4096, 1u << 16},
      bins{256, 1u << 16};
  program.add_names("--operation", operations, all, "operations");
  program.add_numbers("--elements", elements, 1u << 30, "elements of a copy; multiples of 4");
  program.add_numbers("--each", each, 1u << 30,
                      "one of every N elements of a copy takes places; powers of two");
  program.add_names("--counts", spreads, allocation::spreads,
                    "numbers of elements that items emit");
  program.add_numbers("--counters", counters, 1u << 24,
                      "numbers of counters that items take places of");
  program.add_names("--samples", samples, all_samples, "workloads of histograms");
  program.add_numbers("--bins", bins, 1u << 24, "bins of histograms");
  if (!program.parse(allocation::arms, argc, argv)) return program.exit_code();
  if (elements.empty())
    elements = program.simulated() ? std::vector<std::uint32_t>{4096}
                                   : std::vector<std::uint32_t>{1u << 25, 1u << 28};
  if (each.empty()) {
    for (std::uint32_t every = 1; every <= (program.simulated() ? 1u << 8 : 1u << 18); every *= 4)
      each.push_back(every);
  }
  return program.run([&](points& to) {
    auto const has = [&](char const* operation) {
      return std::find(operations.begin(), operations.end(), operation) != operations.end();
    };
    if (has("copy")) add_copies(to, program, elements, each);
    if (has("emit")) {
      for (std::string const& spread : spreads) to.push_back(allocation::make_emit_point(spread));
    }
    if (has("decode")) {
      for (std::string const& spread : spreads) to.push_back(allocation::make_decode_point(spread));
    }
    if (has("take")) {
      for (std::uint32_t const k : counters) to.push_back(allocation::make_take_point(k));
    }
    if (has("histogram")) {
      for (std::string const& workload : samples) {
        for (std::uint32_t const k : bins)
          to.push_back(allocation::make_histogram_point(workload, k));
      }
    }
  });
}
