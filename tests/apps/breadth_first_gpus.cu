// SPDX-License-Identifier: Apache-2.0
// Searches by owner on all numbers of GPUs that there are.

#include "apps/breadth_first/owner_gpus.cuh"
#include "tests/apps/found_by_owner.hpp"

#include <gtest/gtest.h>

namespace {

/// From some sources, so that each rank owns one, and one without arcs.
void expect_found(test::owned_graph const& g, std::vector<std::uint32_t> const& sources) {
  int const most = warden::runtime::device_count();
  for (int gpus = 1; gpus <= most; ++gpus) {
    for (std::uint32_t const source : sources) {
      auto const found = breadth_first::find_on_gpus(gpus, g.out(), g.in(), source);
      EXPECT_EQ(g.error_text_about(found.answer, found.facts, source), "")
          << gpus << " GPUs, from " << source;
    }
  }
}

TEST(breadth_first_gpus, find_levels) {
  expect_found(test::owned_graph{generate(graph::rmat{{.scale = 16, .edge_factor = 16}})},
               {0, 1, 2, 3, 40'000, 65'535});
  expect_found(test::owned_graph{generate(graph::uniform{{.vertices = 50'000, .edges = 300'000}})},
               {0, 1, 49'999});
  expect_found(test::owned_graph{generate(graph::road_grid{{.rows = 40, .columns = 90}})}, {7});
}
TEST(breadth_first_gpus, follow_arcs_one_way) {
  graph::edge_list g = generate(graph::rmat{{.scale = 15, .edge_factor = 8}});
  g.directed = true;
  expect_found(test::owned_graph{std::move(g)}, {0, 1, 2, 3});
}
TEST(breadth_first_gpus, take_small_graphs) {
  expect_found(test::owned_graph{test::edges_of(40, {{0, 1}, {3, 4}, {4, 5}, {39, 38}})},
               {0, 2, 5, 38});
}

}  // namespace
