// SPDX-License-Identifier: Apache-2.0
// Searches under very many schedules: vertices that several blocks come to at once.

#include "tests/apps/searched.hpp"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

namespace {

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(breadth_first_seeds, arms, testing::ValuesIn(breadth_first::arm_names()),
                         [](auto const& arm) { return arm.param; });

/// Wide enough for all blocks, and then narrow again.
TEST_P(arms, find_levels) {
  graph::edge_list g = generate(graph::uniform{{.vertices = 260, .edges = 700}});
  g.from.push_back(3), g.to.push_back(4), g.weights.push_back(1);
  test::searched graph{std::move(g), GetParam()};
  test::under_many_schedules(10, [&](std::uint64_t seed) {
    EXPECT_EQ(graph.complaint_from(static_cast<std::uint32_t>(seed % 260)), "");
  });
}

}  // namespace
