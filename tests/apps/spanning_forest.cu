// SPDX-License-Identifier: Apache-2.0
// Forests by all arms against Kruskal's.

#include "apps/graph/device_csr.cuh"
#include "apps/spanning_forest/first_iteration.cuh"
#include "apps/spanning_forest/forest.cuh"
#include "apps/spanning_forest/kruskal.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using spanning_forest::forest_finder;

constexpr graph::csr_options undirected{.arcs = graph::arcs_of::undirected, .edges = true};

std::string error_text_of(graph::edge_list const& g, std::string const& arm) {
  graph::device_csr const rows = build_csr(to_device(g), undirected);
  forest_finder finder{rows.view(), arm, {.least_to_part = 0}};
  finder.tune();
  finder.find();
  return spanning_forest::error_text(g, finder.edges_to_host(), spanning_forest::kruskal(g));
}

graph::edge_list made(graph::generator const& by) { return graph::generate(by); }

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(spanning_forest, arms, testing::ValuesIn(spanning_forest::arm_names()),
                         [](auto const& arm) { return arm.param; });

TEST_P(arms, find_minimum_forests) {
  EXPECT_EQ(error_text_of(made(graph::rmat{{.scale = 9, .edge_factor = 8}}), GetParam()), "");
  EXPECT_EQ(error_text_of(made(graph::uniform{{.vertices = 500, .edges = 2000}}), GetParam()), "");
  EXPECT_EQ(error_text_of(made(graph::road_grid{{.rows = 20, .columns = 31}}), GetParam()), "");
}
TEST_P(arms, take_equal_weights) {
  // Thousands of threads that spin for a few locks are dear on the simulated device.
  if (GetParam() == "lock_as_written") GTEST_SKIP() << "its locks are not tuned";
  EXPECT_EQ(error_text_of(made(graph::rmat{{.scale = 7, .largest_weight = 1}}), GetParam()), "");
  graph::uniform const three{{.vertices = 200, .edges = 1500, .largest_weight = 3}};
  EXPECT_EQ(error_text_of(made(three), GetParam()), "");
}
TEST_P(arms, take_small_graphs) {
  graph::edge_list g;
  EXPECT_EQ(error_text_of(g, GetParam()), "") << "no vertex";
  g.vertices = 1;
  EXPECT_EQ(error_text_of(g, GetParam()), "") << "one vertex";
  g.from = g.to = {0, 0};
  g.weights = {3, 2};
  EXPECT_EQ(error_text_of(g, GetParam()), "") << "loops";
  g.vertices = 6;
  EXPECT_EQ(error_text_of(g, GetParam()), "") << "loops, and vertices without";
  g.from = {0, 1, 0, 4, 5, 5};
  g.to = {1, 0, 1, 5, 4, 5};
  g.weights = {7, 5, 5, 0xffffffff, 0xffffffff, 0};
  EXPECT_EQ(error_text_of(g, GetParam()), "") << "parallel edges, two trees and two alone";
}
// ---- common properties of all arms

/// The hot components of late iterations need other settings than the many of the first.
TEST(spanning_forest, locks_are_tuned_in_each_iteration) {
  graph::edge_list const g = made(graph::uniform{{.vertices = 60, .edges = 400}});
  graph::device_csr const rows = build_csr(to_device(g), undirected);
  for (char const* const arm : {"lock_tuned", "lock_checked"}) {
    forest_finder finder{rows.view(), arm, {.least_to_part = 0}};
    std::string const settings = finder.tune();
    auto const choices = std::count(settings.begin(), settings.end(), ',') + 1;
    ASSERT_GE(finder.iterations().size(), 3u) << "no late iteration";
    EXPECT_EQ(choices + 1, finder.iterations().size()) << settings << ": the first has no offers";
  }
  forest_finder untuned{rows.view(), "lock_as_written"};
  EXPECT_EQ(untuned.tune(), "");
}

TEST(spanning_forest, hubs_are_looked_through_by_blocks) {
  graph::edge_list g;
  g.vertices = spanning_forest::most_of_a_warp + 100;
  auto const last = static_cast<std::uint32_t>(g.vertices - 1);
  for (std::uint32_t leaf = 0; leaf + 1 < last; ++leaf) {
    std::uint32_t const hub = last - (leaf % 50 == 0 ? 1 : 0);
    g.from.insert(g.from.end(), {hub, leaf});
    g.to.insert(g.to.end(), {leaf, hub});
    g.weights.insert(g.weights.end(), {leaf * 7919 % 5003, leaf * 104729 % 5003});
  }
  g.from.push_back(last);
  g.to.push_back(last - 1);
  g.weights.push_back(4000);
  EXPECT_EQ(error_text_of(g, "atomics"), "");
}
TEST(spanning_forest, heavy_edges_wait_and_mostly_for_nothing) {
  graph::edge_list const g = made(graph::uniform{{.vertices = 400, .edges = 6000}});
  graph::device_csr const rows = build_csr(to_device(g), undirected);
  forest_finder finder{rows.view(), "atomics", {.least_to_part = 0}};
  finder.find();
  std::uint32_t offered = 0;
  for (auto const& iteration : finder.iterations()) offered += iteration.candidates;
  ASSERT_GE(finder.iterations().size(), 3u);
  EXPECT_GT(finder.iterations()[1].set_aside, finder.iterations()[1].candidates);
  EXPECT_LT(offered, 6000u / 2);
}
/// Two cliques of light edges, joined by some that are heavier than all that a sample shows.
TEST(spanning_forest, the_heaviest_are_brought_back_alone) {
  graph::edge_list g;
  g.vertices = 80;
  auto const add = [&](std::uint32_t from, std::uint32_t to, std::uint32_t weight) {
    g.from.push_back(from);
    g.to.push_back(to);
    g.weights.push_back(weight);
  };
  for (std::uint32_t a = 0; a < 40; ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      add(a, b, 1 + a * b % 97);
      add(40 + a, 40 + b, 1 + (a + b) * 31 % 97);
    }
  }
  for (std::uint32_t k = 0; k < 3; ++k) add(k, 79 - k, 1000 - k);
  EXPECT_EQ(error_text_of(g, "atomics"), "");
}
TEST(spanning_forest, refuses_what_it_cannot_do) {
  graph::edge_list const g = made(graph::uniform{{.vertices = 10, .edges = 20}});
  graph::device_csr const rows = build_csr(to_device(g), undirected);
  graph::csr_view const whole = rows.view();
  graph::csr_view without = whole;
  auto const refusal = [](graph::csr_view const& graph, std::string const& arm) {
    return test::refusal([&] { forest_finder{graph, arm}; });
  };
  without.weights = nullptr;
  EXPECT_THAT(refusal(without, "atomics"),
              testing::StartsWith("spanning_forest: the graph has no weights"));
  without = whole;
  without.edges = nullptr;
  EXPECT_THAT(refusal(without, "atomics"),
              testing::StartsWith("spanning_forest: the graph has no numbers of edges"));
  without = whole;
  without.arcs = 0xffffffff;
  EXPECT_THAT(refusal(without, "atomics"),
              testing::StartsWith("spanning_forest: 4294967295 arcs; the limit is 4294967294"));
  EXPECT_THAT(
      refusal(whole, "no"),
      testing::StartsWith(
          "spanning_forest: no arm 'no'; there are: lock_as_written, lock_tuned, lock_checked, "
          "atomics, warden_deferred, warden_deferred_combined"));
}

// ---- the check itself

TEST(spanning_forest, the_check_finds_what_is_no_minimum_forest) {
  using spanning_forest::error_text;
  graph::edge_list g;
  g.vertices = 4;
  g.from = {0, 1, 2, 0};
  g.to = {1, 2, 0, 3};
  g.weights = {1, 2, 3, 4};
  auto const wanted = spanning_forest::kruskal(g);
  EXPECT_EQ(wanted.edges, 3u);
  EXPECT_EQ(wanted.weight, 7u);
  using edges = std::vector<std::uint32_t>;
  EXPECT_EQ(error_text(g, edges{0, 1, 3}, wanted), "");
  EXPECT_EQ(error_text(g, edges{0, 1}, wanted), "2 edges, not 3");
  EXPECT_EQ(error_text(g, edges{0, 1, 2}, wanted), "edge 2 closes a cycle");
  EXPECT_EQ(error_text(g, edges{0, 0, 3}, wanted), "edge 0 closes a cycle");
  EXPECT_EQ(error_text(g, edges{0, 2, 3}, wanted), "a weight of 8, not 7");
  EXPECT_EQ(error_text(g, edges{0, 1, 4}, wanted), "edge 4 of 4");
}

}  // namespace
