// SPDX-License-Identifier: Apache-2.0
// Maximum flows under very many schedules: pushes that come to a vertex from several blocks.

#include "apps/graph/generate.cuh"
#include "tests/apps/found_flow.hpp"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

class many_schedules : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(max_flow_seeds, many_schedules,
                         testing::Values("lock_tuned", "atomics", "warden", "warden_regions"),
                         [](auto const& arm) { return arm.param; });

/// Many sources of pushes to few vertices, so that they meet; and more vertices than a region has.
TEST_P(many_schedules, find_flows) {
  bool const has_borders = max_flow::has_regions(GetParam());
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    EXPECT_EQ(test::complaint_of(generate(graph::washington{{.rows = has_borders ? 10u : 4u,
                                                             .columns = has_borders ? 8u : 3u,
                                                             .largest_capacity = 9,
                                                             .seed = seed}}),
                                 GetParam()),
              "");
  });
}

/// Nothing of a round depends on who comes first.
TEST(max_flow_seeds, sections_make_the_same_rounds) {
  auto const g = generate(graph::rmf{{.a = 2, .b = 4}});
  std::vector<std::uint64_t> first;
  test::under_many_schedules(1, [&](std::uint64_t) {
    test::found_flow f{g, "warden"};
    f.finder.find();
    auto const& facts = f.finder.facts();
    std::vector<std::uint64_t> const these{facts.rounds, facts.rounds_back, facts.searches,
                                           facts.pushes, facts.relabels,    facts.value};
    if (first.empty()) first = these;
    EXPECT_EQ(these, first);
  });
}

}  // namespace
