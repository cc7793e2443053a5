// SPDX-License-Identifier: Apache-2.0
// Forests under many schedules of the simulated device, by all arms but the locks as written, whose
// thousands of threads spin.

#include "apps/graph/device_csr.cuh"
#include "apps/spanning_forest/forest.cuh"
#include "apps/spanning_forest/kruskal.hpp"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

namespace {

std::vector<std::string> arms_of_few_threads() {
  std::vector<std::string> names = spanning_forest::arm_names();
  std::erase(names, "lock_as_written");
  return names;
}

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(spanning_forest, arms, testing::ValuesIn(arms_of_few_threads()),
                         [](auto const& arm) { return arm.param; });

TEST_P(arms, find_the_same_under_many_schedules) {
  graph::edge_list const g =
      graph::generate(graph::uniform{{.vertices = 24, .edges = 90, .largest_weight = 9}});
  graph::device_csr const rows =
      build_csr(to_device(g), {.arcs = graph::arcs_of::undirected, .edges = true});
  spanning_forest::forest_finder finder{rows.view(), GetParam(), {.least_to_part = 0}};
  // Tuned once, locks have few threads, which still meet.
  finder.tune();
  finder.find();
  std::vector<std::uint32_t> const first = finder.edges_to_host();
  EXPECT_EQ(spanning_forest::error_text(g, first, spanning_forest::kruskal(g)), "");
  test::under_many_schedules(5, [&](std::uint64_t) {
    finder.find();
    ASSERT_EQ(finder.edges_to_host(), first);
  });
}

}  // namespace
