// SPDX-License-Identifier: Apache-2.0
// The sections of minimum spanning trees that the handover benchmark measures.

#include "apps/graph/generate.cuh"
#include "microbench/handover/forest_sections.hpp"
#include "tests/apps/edge_literals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using handover::forest_sections;
using test::graph_of;
using ids = std::vector<std::uint32_t>;

TEST(handover_forest, the_first_iteration_has_no_sections) {
  EXPECT_EQ(forest_sections(graph_of(1, {})), ids{});
  EXPECT_EQ(forest_sections(graph_of(3, {{0, 1, 1}, {1, 2, 1}, {0, 0, 1}})), ids{});
}

TEST(handover_forest, vertices_with_an_edge_to_another_component_update_theirs) {
  // Two pairs, joined by a heavy edge: of each pair one vertex has it.
  EXPECT_EQ(forest_sections(graph_of(4, {{0, 1, 1}, {1, 2, 5}, {2, 3, 1}})), (ids{0, 1}));
  // All four have one; a vertex has one section, however many edges.
  EXPECT_EQ(forest_sections(graph_of(
                4, {{0, 1, 1}, {2, 3, 1}, {0, 2, 5}, {1, 3, 6}, {1, 2, 7}, {1, 2, 7}, {3, 3, 0}})),
            (ids{0, 0, 1, 1}));
}

TEST(handover_forest, components_of_another_round_are_other_records) {
  // Pairs become fours, and these one: 1-2 and 5-6 in the second round, 3-4 in the third.
  auto const g =
      graph_of(8, {{0, 1, 1}, {2, 3, 1}, {4, 5, 1}, {6, 7, 1}, {1, 2, 5}, {5, 6, 5}, {3, 4, 9}});
  EXPECT_EQ(forest_sections(g), (ids{0, 1, 1, 2, 2, 3, 4, 5}));
}

TEST(handover_forest, equal_weights_end) {
  // In the first round each takes its edge of the least number: 0-1, 1-2, 3-4, 4-5; one is left.
  auto const g = graph_of(6, {{0, 1, 3}, {1, 2, 3}, {3, 4, 3}, {4, 5, 3}, {2, 3, 3}, {5, 0, 3}});
  EXPECT_EQ(forest_sections(g), (ids{0, 0, 1, 1}));
}

TEST(handover_forest, sections_of_a_generated_graph) {
  auto const g = generate(graph::uniform{{.vertices = 4096, .edges = 4 * 4096}});
  auto const sections = forest_sections(g);
  ASSERT_FALSE(sections.empty());
  // A round has as many sections as vertices at most, and half as many records as the one before.
  EXPECT_LT(*std::max_element(sections.begin(), sections.end()), 4096u);
  EXPECT_LT(sections.size(), 11u * 4096);
  // Numbers are given in order.
  std::uint32_t next = 0;
  for (std::uint32_t const id : sections) {
    ASSERT_LE(id, next);
    next = std::max(next, id + 1);
  }
}

}  // namespace
