// SPDX-License-Identifier: Apache-2.0
// Searches under very many schedules: vertices that several blocks come to at once.

#include "tests/apps/searched.hpp"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(breadth_first_seeds, arms, testing::ValuesIn(breadth_first::arm_names()),
                         [](auto const& arm) { return arm.param; });

/// Wide enough for all blocks, several places for a thread, and then narrow again.
TEST_P(arms, find_levels) {
  test::searched graph{generate(graph::uniform{{.vertices = 420, .edges = 1100}}), GetParam()};
  test::under_many_schedules(2, [&](std::uint64_t seed) {
    EXPECT_EQ(graph.error_text_from(static_cast<std::uint32_t>(seed % 420)), "");
  });
}
/// Long rows in a level of one block: no thread waits for another one, except for sums.
TEST_P(arms, follow_long_rows) {
  std::uint32_t const long_row = breadth_first::search_threads + 4;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t hub = 1; hub <= 3; ++hub) {
    arcs.emplace_back(0, hub);
    for (std::uint32_t k = 1; k < long_row; ++k) arcs.emplace_back(hub, 3 + hub * 40 + k);
  }
  test::searched graph{test::edges_of(200, arcs), GetParam()};
  test::under_many_schedules(2, [&](std::uint64_t) { EXPECT_EQ(graph.error_text_from(0), ""); });
}
/// Only long rows, more of them than a block has threads: earlier places are done when the next
/// ones begin. With this arm no thread waits for another one to get places.
TEST(breadth_first_seeds, goes_on_to_long_rows) {
  std::uint32_t const row = breadth_first::search_threads, hubs = 3 * row + 20;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t hub = 1; hub <= hubs; ++hub) {
    arcs.emplace_back(0, hub);
    for (std::uint32_t k = 0; k < row; ++k)
      arcs.emplace_back(hub, hubs + 1 + (hub + k) % (2 * row));
  }
  test::searched graph{test::edges_of(hubs + 1 + 2 * row, arcs), "queue_threads"};
  test::under_many_schedules(2, [&](std::uint64_t) { EXPECT_EQ(graph.error_text_from(0), ""); });
}

}  // namespace
