// SPDX-License-Identifier: Apache-2.0
// The barrier of a grid: no block passes it early, all see the others' earlier writes, and a block
// that waits in vain reports it. And inboxes of blocks that meet there: each message is taken once.

#include "tests/apps/barrier_launch.cuh"
#include "tests/apps/inbox_launch.cuh"
#include "tests/support/support.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;
using test::barrier_launch;

unsigned resident() {
  auto const all = warden::runtime::resident_blocks(simt::make_kernel(&test::pass_barriers),
                                                    test::barrier_threads, 0);
  return test::sized(4u, static_cast<unsigned>(all));
}

TEST(grid_barrier, parts_rounds) {
  barrier_launch l{resident()};
  l.run(test::sized(20u, 200u));
  EXPECT_EQ(l.errors.to_host(), (std::vector<std::uint32_t>{0, 0}));
}
TEST(grid_barrier, serves_one_block) {
  barrier_launch l{1};
  l.run(50);
  EXPECT_EQ(l.errors.to_host(), (std::vector<std::uint32_t>{0, 0}));
}
TEST(grid_barrier, who_waits_in_vain_says_so) {
  barrier_launch l{3};
  l.run(4, 3);
  EXPECT_EQ(l.errors.to_host(), (std::vector<std::uint32_t>{0, 2})) << "both others leave";
  apps::grid_barrier_state const state = l.state.to_host()[0];
  EXPECT_EQ(state.failed, 1u);
  EXPECT_LT(state.first.block, 2u);
  EXPECT_EQ(apps::error_text({1, 3, 4, 2}, {.nanoseconds = 2'000'000'000}),
            "block 1 waited 2000 ms at barrier 4, where 2 of 3 blocks have arrived");
  EXPECT_EQ(state.first.barrier, 4u);
  EXPECT_EQ(state.first.arrived, 2u);
  EXPECT_EQ(state.first.blocks, 3u);
  l.run(4);
  EXPECT_EQ(l.errors.to_host(), (std::vector<std::uint32_t>{0, 0})) << "the next launch";
}

TEST(inboxes, each_message_is_taken_once) {
  EXPECT_EQ(test::post(4, test::sized(6u, 60u), 4 * test::inbox_threads), 0u);
  EXPECT_EQ(test::post(1, 3, test::inbox_threads), 0u);
}
TEST(inboxes, who_puts_into_a_full_one_is_told) {
  EXPECT_EQ(test::post(1, 4, 40), 4 * (test::inbox_threads - 40));
  EXPECT_GT(test::post(3, test::sized(4u, 40u), 20), 0u);
}

}  // namespace
