// SPDX-License-Identifier: Apache-2.0
// Sorts of a tile: bank conflicts on the simulated device where the layout has some, and none where
// it has none; and inputs that are permutations.

#include "microbench/bank_conflicts/arms.hpp"
#include "microbench/bank_conflicts/inputs.hpp"

#include <warden/buffer.hpp>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace bank_conflicts;
namespace sim = warden::sim;

std::vector<std::uint32_t> random_keys(unsigned n) {
  std::mt19937 random{7};
  std::vector<std::uint32_t> keys(n);
  std::generate(keys.begin(), keys.end(), random);
  return keys;
}

/// Sorts tiles and returns the sum of their accesses to shared memory.
sim::line_accesses sorted(std::string const& arm, std::vector<std::uint32_t> keys) {
  sim::settings s;
  s.report_memory = true;
  sim::configure(s);
  sim::clear_memory_report();
  warden::buffer<std::uint32_t> const from{keys}, to(keys.size());
  auto const count = static_cast<unsigned>(keys.size()) / tile_keys;
  warp_sorts().at(arm)({from.data(), to.data(), count});
  sim::line_accesses sum;
  for (sim::line_accesses const& l : sim::memory_report().lines) {
    if (!l.shared) continue;
    sum.accesses += l.accesses;
    sum.conflicts += l.conflicts;
  }
  for (auto tile = keys.begin(); tile != keys.end(); tile += tile_keys)
    std::sort(tile, tile + tile_keys);
  EXPECT_EQ(to.to_host(), keys);
  return sum;
}

TEST(bank_conflicts, are_none_in_columns_of_the_transposed_matrix) {
  for (char const* const input : input_names) {
    std::vector<std::uint32_t> const order = keys_of(input);
    EXPECT_EQ(sorted("shear_transposed", order.empty() ? random_keys(tile_keys) : order).conflicts,
              0u)
        << input;
  }
}
TEST(bank_conflicts, are_none_with_a_word_between_rows) {
  sim::line_accesses const cost = sorted("shear_padded", random_keys(5 * tile_keys));
  EXPECT_EQ(cost.conflicts, 0u);
  // A copy in, 6 sorts of rows, 5 of columns and a copy out: 32 words of each lane.
  EXPECT_EQ(cost.accesses, 5u * side * (1 + 2 * (6 + 5) + 1));
}
TEST(bank_conflicts, are_31_for_each_access_to_a_row) {
  sim::line_accesses const cost = sorted("shear_rows", random_keys(tile_keys));
  EXPECT_EQ(cost.conflicts, side * 2u * 6u * 31u);
}

TEST(bank_conflicts, of_merges_are_those_of_a_gpu) {
  // Nsight Compute counted these on an H100, in 64 tiles. All accesses have 4 bytes.
  std::map<std::string, double> const on_gpu{{"sorted", 6'279. / 64},
                                             {"adversarial_9", 20'037. / 64},
                                             {"adversarial_padded", 50'465. / 64}};
  for (auto const& [input, conflicts] : on_gpu) {
    EXPECT_NEAR(static_cast<double>(sorted("merge_padded", keys_of(input)).conflicts), conflicts,
                0.02 * conflicts)
        << input;
  }
}
TEST(bank_conflicts, of_merges_depend_on_the_keys) {
  for (char const* const arm : {"merge_rows", "merge_padded"}) {
    std::uint64_t const of_random = sorted(arm, random_keys(tile_keys)).conflicts;
    EXPECT_GT(sorted(arm, keys_of("adversarial_padded")).conflicts, of_random) << arm;
  }
  EXPECT_GT(sorted("merge_rows", keys_of("adversarial_32")).conflicts,
            10 * sorted("merge_padded", keys_of("adversarial_32")).conflicts);
}

TEST(bank_conflicts, inputs_are_permutations) {
  for (unsigned const items : {8u, 9u, tile_keys}) {
    std::vector<std::uint32_t> keys = adversarial(tile_keys, items);
    std::sort(keys.begin(), keys.end());
    for (unsigned i = 0; i < tile_keys; ++i) ASSERT_EQ(keys[i], i) << items;
  }
  EXPECT_THAT(adversarial(tile_keys, tile_keys), testing::ElementsAreArray(keys_of("sorted")));
}

}  // namespace
