// SPDX-License-Identifier: Apache-2.0
// Searches by owner under many schedules, of threads and of ranks.

#include "tests/apps/found_by_owner.hpp"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

namespace {

/// Both directions, and vertices that both ranks come to in one level.
TEST(breadth_first_owner_seeds, find_levels) {
  test::owned_graph g{generate(graph::rmat{{.scale = 7, .edge_factor = 4}})};
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    auto const ranks = static_cast<std::uint32_t>(2 + seed % 2);
    EXPECT_EQ(g.error_text_from(static_cast<std::uint32_t>(seed % 128), ranks, seed), "");
  });
}
/// From top-down to bottom-up and back.
TEST(breadth_first_owner_seeds, change_direction) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t v = 1; v < 70; ++v) {
    for (std::uint32_t k = 1; k < 5; ++k) {
      arcs.emplace_back(v, v * k % 70);
      arcs.emplace_back(73 + v, 73 + v * k % 70);
    }
  }
  for (std::uint32_t v = 0; v < 5; ++v) arcs.emplace_back(69 + v, 70 + v);
  test::owned_graph g{test::edges_of(143, arcs), {.alpha = 20, .beta = 100}};
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    EXPECT_EQ(g.error_text_from(static_cast<std::uint32_t>(seed % 143), 2, seed), "");
  });
}

}  // namespace
