// SPDX-License-Identifier: Apache-2.0
// Shortest paths by all arms against Dijkstra's algorithm, and the check of every answer.

#include "apps/shortest_paths/progress.cuh"
#include "tests/apps/paths_found.hpp"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using shortest_paths::no_distance;
using shortest_paths::search_options;
using test::graph_of;
using test::paths_found;
constexpr std::uint32_t heaviest = 0xffffffff;

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(shortest_paths, arms, testing::ValuesIn(shortest_paths::arm_names()),
                         [](auto const& arm) { return arm.param; });

TEST_P(arms, find_distances) {
  paths_found rmat{generate(graph::rmat{{.scale = 8, .edge_factor = 8}}), GetParam()};
  EXPECT_EQ(rmat.error_text_from(1), "");
  EXPECT_EQ(rmat.error_text_from(117), "") << "the same memory again";
  graph::uniform const uniform{{.vertices = 400, .edges = 1600, .largest_weight = 50}};
  EXPECT_EQ(paths_found(generate(uniform), GetParam()).error_text_from(0), "");
  EXPECT_EQ(paths_found(generate(uniform), GetParam(), {.is_wide = true}).error_text_from(0), "");
  graph::road_grid const road{{.rows = 12, .columns = 31}};
  EXPECT_EQ(paths_found(generate(road), GetParam()).error_text_from(40), "");
}
TEST_P(arms, take_small_graphs) {
  EXPECT_EQ(paths_found(graph_of(1, {}), GetParam()).error_text_from(0), "") << "one vertex";
  EXPECT_EQ(paths_found(graph_of(3, {}), GetParam()).error_text_from(1), "") << "no arcs";
  EXPECT_EQ(paths_found(graph_of(1, {{0, 0, 0}, {0, 0, 5}}), GetParam()).error_text_from(0), "");
  paths_found parts{
      graph_of(
          40,
          {{0, 1, 7}, {0, 1, 3}, {0, 1, 9}, {1, 1, 0}, {1, 2, heaviest}, {39, 38, 1}, {38, 0, 2}}),
      GetParam()};
  EXPECT_EQ(parts.error_text_from(0), "") << "parallel arcs and self-loops";
  EXPECT_EQ(parts.error_text_from(3), "") << "alone";
  EXPECT_EQ(parts.error_text_from(39), "") << "the largest weight";
}
/// Cycles of weight 0, at the source, on the way and after a detour.
TEST_P(arms, take_arcs_of_weight_0) {
  paths_found cycles{graph_of(9, {{0, 1, 0},
                                  {1, 0, 0},
                                  {1, 2, 5},
                                  {2, 3, 0},
                                  {3, 4, 0},
                                  {4, 2, 0},
                                  {4, 5, 0},
                                  {5, 6, 2},
                                  {0, 6, 8},
                                  {6, 5, 0},
                                  {6, 7, 0},
                                  {7, 6, 0}}),
                     GetParam()};
  for (graph::vertex source : {0u, 3u, 7u, 8u})
    EXPECT_EQ(cycles.error_text_from(source), "") << source;
  graph::edge_list g = generate(graph::uniform{{.vertices = 300, .edges = 900}});
  for (graph::weight& w : g.weights) w %= 3;
  EXPECT_EQ(paths_found(g, GetParam()).error_text_from(5), "");
  for (graph::weight& w : g.weights) w = 0;
  EXPECT_EQ(paths_found(g, GetParam()).error_text_from(5), "") << "all distances are equal";
}
TEST_P(arms, expand_long_rows_and_wide_steps) {
  std::uint32_t const row = 2 * shortest_paths::most_arcs_of_a_place + 5;
  test::edge_literals arcs;
  for (std::uint32_t k = 0; k < row; ++k) {
    arcs.push_back({0, 1 + k, 1 + k % 7});
    arcs.push_back({1 + k, 1 + row, 100 - k % 50});
    arcs.push_back({1 + row, 2 + row + k, k % 3});
  }
  EXPECT_EQ(paths_found(graph_of(2 + 2 * row, arcs), GetParam()).error_text_from(0), "");
}
TEST_P(arms, need_no_wider_distances_for_ways_that_are_longer) {
  // Vertex 2 has a distance when the longer way to it is found.
  paths_found g{graph_of(3, {{0, 1, 1u << 30}, {0, 2, 5}, {1, 2, heaviest}}), GetParam()};
  EXPECT_EQ(g.error_text_from(0), "");
  EXPECT_EQ(g.finder.facts().bits, 32u);
}
TEST_P(arms, widen_distances) {
  test::edge_literals arcs;
  for (graph::vertex v = 0; v < 5; ++v) arcs.push_back({v, v + 1, heaviest - v});
  arcs.push_back({0, 5, 17});
  arcs.push_back({5, 6, 18});
  paths_found chain{graph_of(7, arcs), GetParam()};
  EXPECT_EQ(chain.error_text_from(5), "");
  EXPECT_EQ(chain.finder.facts().bits, 32u);
  EXPECT_EQ(chain.error_text_from(4), "") << "two arcs";
  EXPECT_EQ(chain.finder.facts().bits, 64u);
  EXPECT_TRUE(chain.finder.facts().is_second);
  EXPECT_EQ(chain.error_text_from(0), "");
  EXPECT_FALSE(chain.finder.facts().is_second);
  // The largest distance of 32 bits, or of 31 for the worklist, and one more.
  std::uint32_t const most = GetParam() == "decoupled" ? 0x7ffffffe : 0xfffffffd;
  for (unsigned more : {0u, 1u}) {
    paths_found edge{graph_of(3, {{0, 1, most - 5}, {1, 2, 5 + more}}), GetParam()};
    EXPECT_EQ(edge.error_text_from(0), "");
    EXPECT_EQ(edge.finder.facts().bits, more == 0 ? 32u : 64u);
  }
}

// ---- special cases of some arms

TEST(shortest_paths, buckets_of_any_width) {
  graph::edge_list const g =
      generate(graph::uniform{{.vertices = 150, .edges = 400, .largest_weight = 1000}});
  for (std::string const arm : {"near_far", "delta_stepping", "delta_scan"}) {
    for (std::uint64_t const delta : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{1} << 40})
      EXPECT_EQ(paths_found(g, arm, {.delta = delta}).error_text_from(1), "") << arm << delta;
  }
  for (unsigned const buckets : {2u, 5u})
    EXPECT_EQ(
        paths_found(g, "delta_stepping", {.delta = 64, .buckets = buckets}).error_text_from(1), "");
}
/// Distances far from each other: most buckets are empty.
TEST(shortest_paths, skips_empty_buckets) {
  test::edge_literals arcs;
  for (graph::vertex v = 0; v < 20; ++v) arcs.push_back({v, v + 1, v % 2 == 0 ? 1u : 100'000'000u});
  for (std::string const arm : {"near_far", "delta_stepping", "delta_scan"}) {
    paths_found chain{graph_of(21, arcs), arm, {.delta = 1, .local_iterations = 0}};
    EXPECT_EQ(chain.error_text_from(0), "");
    EXPECT_LT(chain.finder.facts().steps, 120u) << arm;
  }
}
TEST(shortest_paths, one_block_goes_on_alone) {
  test::edge_literals arcs;
  for (graph::vertex v = 0; v < 200; ++v) arcs.push_back({v, v + 1, 3});
  paths_found chain{graph_of(201, arcs), "bellman_ford"};
  EXPECT_EQ(chain.error_text_from(0), "");
  EXPECT_LT(chain.finder.facts().steps, 201u / shortest_paths::most_narrow_iterations + 5);
  paths_found without{graph_of(201, arcs), "bellman_ford", {.local_iterations = 0}};
  EXPECT_EQ(without.error_text_from(0), "");
  EXPECT_EQ(without.finder.facts().expansions, 200u);
}
TEST(shortest_paths, gives_up_after_too_many_steps) {
  test::edge_literals arcs;
  for (graph::vertex v = 0; v < 20; ++v) arcs.push_back({v, v + 1, 3});
  paths_found chain{graph_of(21, arcs), "near_far", {.local_iterations = 0, .most_steps = 7}};
  EXPECT_THAT(test::error_of<warden::error>([&] { chain.finder.find(0); }),
              testing::StartsWith("shortest_paths: the search from vertex 0 does not end: given up "
                                  "after 7 steps with 6 places queued"));
}
TEST(shortest_paths, refuses_what_it_cannot_do) {
  graph::device_csr const rows =
      build_csr(to_device(graph_of(3, {{0, 1, 2}})), {graph::arcs_of::directed});
  auto const refusal = [](graph::csr_view const& of, std::string const& arm,
                          search_options const& o = {}) {
    return test::refusal([&] { shortest_paths::finder{of, arm, o}; });
  };
  graph::csr_view const whole = rows.view();
  graph::csr_view other = whole;
  other.arcs = std::uint64_t{1} << 32;
  EXPECT_THAT(refusal(other, "near_far"),
              testing::StartsWith("shortest_paths: 4294967296 arcs; the limit is 4294967295"));
  other = whole;
  other.weights = nullptr;
  EXPECT_THAT(refusal(other, "near_far"),
              testing::StartsWith("shortest_paths: the graph has no weights"));
  EXPECT_THAT(refusal(whole, "no"),
              testing::StartsWith("shortest_paths: no arm 'no'; there are: bellman_ford, "));
  EXPECT_THAT(refusal(whole, "delta_stepping", {.buckets = 33}),
              testing::StartsWith("shortest_paths: 33 buckets; there are from 1 to 32"));
  shortest_paths::finder finder{whole, "near_far"};
  EXPECT_THAT(test::refusal([&] { finder.find(3); }),
              testing::StartsWith("shortest_paths: the source is vertex 3, which is not below 3, "
                                  "the number of vertices"));
}

// ---- the check itself

TEST(shortest_paths, the_check_finds_what_is_no_shortest_path) {
  // 0 -2- 1 -0- 2 -0- 1, 2 -3- 3, 0 -9- 3, and 4 -1- 0 alone.
  graph::device_csr const rows = build_csr(
      to_device(graph_of(5, {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}, {2, 3, 3}, {0, 3, 9}, {4, 0, 1}})),
      {graph::arcs_of::directed});
  using numbers = std::vector<std::uint64_t>;
  using vertices = std::vector<graph::vertex>;
  graph::vertex const none = graph::no_vertex;
  auto const error_text_of = [&](numbers const& distances, vertices const& parents) {
    warden::buffer<std::uint64_t> const d{distances};
    warden::buffer<graph::vertex> const p{parents};
    return shortest_paths::error_text(
        shortest_paths::audit(rows.view(), 0, {nullptr, d.data()}, p.data()));
  };
  numbers const distances{0, 2, 2, 5, no_distance};
  vertices const parents{0, 0, 1, 2, none};
  EXPECT_EQ(error_text_of(distances, parents), "");
  EXPECT_EQ(error_text_of({1, 3, 3, 6, no_distance}, parents),
            "the source is not at distance 0, or not its own parent");
  EXPECT_EQ(error_text_of(distances, {1, 0, 1, 2, none}),
            "the source is not at distance 0, or not its own parent");
  EXPECT_EQ(error_text_of({0, 2, 2, 9, no_distance}, {0, 0, 1, 0, none}),
            "1 arcs shorten a distance");
  EXPECT_EQ(error_text_of({0, 2, 2, no_distance, no_distance}, {0, 0, 1, none, none}),
            "2 arcs lead to unreached vertices");
  EXPECT_EQ(error_text_of({0, 2, 2, 4, no_distance}, parents),
            "1 vertices without a tight arc from their parent");
  EXPECT_EQ(error_text_of(distances, {0, 0, 1, 0, none}),
            "1 vertices without a tight arc from their parent");
  EXPECT_EQ(error_text_of(distances, {0, 0, 1, none, none}),
            "1 vertices without a tight arc from their parent");
  EXPECT_EQ(error_text_of(distances, {0, 2, 1, 2, none}),
            "2 vertices whose parents do not lead to the source")
      << "a cycle of weight 0";
  EXPECT_EQ(error_text_of({0, 1, 1, 4, no_distance}, {0, 2, 1, 2, none}),
            "2 vertices whose parents do not lead to the source")
      << "distances that only the cycle supports";
  EXPECT_EQ(error_text_of(distances, {0, 0, 1, 2, 0}), "1 unreached vertices with a parent");
  EXPECT_EQ(error_text_of({0, 2, 2, 5, 7}, {0, 0, 1, 2, 2}),
            "1 vertices without a tight arc from their parent");
}

}  // namespace
