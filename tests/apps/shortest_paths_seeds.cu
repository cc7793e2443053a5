// SPDX-License-Identifier: Apache-2.0
// Searches under very many schedules: vertices that several blocks reach at once.

#include "tests/apps/paths_found.hpp"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

class schedules : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(shortest_paths_seeds, schedules,
                         testing::ValuesIn(shortest_paths::arm_names()),
                         [](auto const& arm) { return arm.param; });

/// Wide enough for all blocks, and then narrow again. Small weights, so that many paths to a vertex
/// are nearly as short as the shortest one; some are 0.
TEST_P(schedules, find_distances) {
  graph::edge_list g =
      generate(graph::uniform{{.vertices = 160, .edges = 420, .largest_weight = 12}});
  for (graph::weight& w : g.weights) --w;
  test::paths_found graph{g, GetParam(), {.delta = 4, .buckets = 3, .local_iterations = 3}};
  test::under_many_schedules(2, [&](std::uint64_t seed) {
    EXPECT_EQ(graph.error_text_from(static_cast<std::uint32_t>(seed % 160)), "");
  });
}
/// Blocks expand their own vertices while other blocks shorten the same distances: layers that are
/// too wide for one block, and have few enough arcs for blocks to go on by themselves.
TEST(shortest_paths_seeds, blocks_meet) {
  constexpr std::uint32_t width = shortest_paths::search_threads + 16, layers = 4;
  test::edge_literals arcs;
  for (std::uint32_t i = 0; i < width; ++i) {
    arcs.push_back({0, 1 + i, i % 5});
    for (std::uint32_t layer = 1; layer < layers; ++layer) {
      std::uint32_t const from = 1 + (layer - 1) * width + i, to = 1 + layer * width;
      arcs.push_back({from, to + i, (i * 13 + layer) % 9});
      arcs.push_back({from, to + (i * 7 + 1) % width, (i * 5 + layer) % 9});
    }
  }
  test::paths_found layered{test::graph_of(1 + layers * width, arcs), "bellman_ford"};
  test::under_many_schedules(2, [&](std::uint64_t) {
    EXPECT_EQ(layered.error_text_from(0), "");
    EXPECT_LT(layered.finder.facts().expansions, layers);
  });
}
/// A worklist of one vertex, in one bucket after another: it must not seem empty in between.
TEST(shortest_paths_seeds, one_vertex_at_a_time) {
  test::edge_literals arcs;
  for (graph::vertex v = 0; v < 20; ++v) arcs.push_back({v, v + 1, 4});
  test::paths_found chain{test::graph_of(21, arcs), "decoupled", {.delta = 4}};
  test::under_many_schedules(1, [&](std::uint64_t) { EXPECT_EQ(chain.error_text_from(0), ""); });
}

}  // namespace
