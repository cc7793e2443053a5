// SPDX-License-Identifier: Apache-2.0
// The barrier of a grid, and inboxes of blocks that meet there, under very many schedules.

#include "tests/apps/barrier_launch.cuh"
#include "tests/apps/inbox_launch.cuh"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

TEST(grid_barrier_seeds, parts_rounds) {
  test::under_many_schedules(1, [](std::uint64_t) {
    test::barrier_launch l{3};
    l.run(4);
    EXPECT_EQ(l.errors.to_host(), (std::vector<std::uint32_t>{0, 0}));
  });
}

TEST(grid_barrier_seeds, inboxes_lose_nothing) {
  test::under_many_schedules(2, [](std::uint64_t) {
    EXPECT_EQ(test::post(2, 3, 2 * test::inbox_threads), 0u);
    EXPECT_GT(test::post(2, 3, 20), 0u);
  });
}

}  // namespace
