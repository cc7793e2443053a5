// SPDX-License-Identifier: Apache-2.0
// The barrier of a grid under very many schedules.

#include "tests/apps/barrier_launch.cuh"
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

}  // namespace
