// SPDX-License-Identifier: Apache-2.0
// The throttle of a run, by which no block is far ahead of the others.

#include <warden/buffer.hpp>
#include <warden/detail/deferred/progress_throttle.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;

constexpr unsigned blocks = 2;
constexpr std::uint32_t window = 10, rows = 3 * window;

struct arguments {
  std::uint32_t* sum;
  unsigned* paused;  ///< [window] pauses of block 0
  std::uint32_t partitions, turn;
};

/// Block 0 passes its rows by windows. The other block passes none.
WARDEN_KERNEL void pass_alone(arguments a) {
  simt::assume_one_dimension();
  if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
  warden::detail::progress_throttle throttle{a.sum, rows, a.partitions, a.turn};
  for (unsigned w = 0; w < 2; ++w) a.paused[w] = throttle.pass((w + 1) * window);
  throttle.finish(rows);
}

/// Passes the rows of a partition after `turn` others, of which `before` rows were passed. Returns
/// the pauses after the first two windows.
std::vector<unsigned> pauses(std::uint32_t partitions, std::uint32_t turn, std::uint32_t before) {
  warden::buffer<std::uint32_t> sum{std::vector<std::uint32_t>{before}};
  warden::buffer<unsigned> paused{2};
  simt::launch(&pass_alone, blocks, simt::warp_size, 0,
               arguments{sum.data(), paused.data(), partitions, turn}, {});
  EXPECT_EQ(sum.to_host()[0], before + rows);
  return paused.to_host();
}

TEST(progress_throttle, pauses_a_block_that_is_more_than_a_window_ahead) {
  EXPECT_EQ(pauses(blocks, 0, 0)[0], 0u);         // half a window ahead of the average
  EXPECT_EQ(pauses(blocks, 0, 0)[1], 0u);         // one window
  EXPECT_GT(pauses(2 * blocks, 1, rows)[0], 0u);  // the other block is in its first partition
}
TEST(progress_throttle, compares_the_blocks_that_run_a_partition_in_a_turn) {
  std::uint32_t const passed = blocks * rows;
  EXPECT_EQ(pauses(blocks + 1, 1, passed), (std::vector<unsigned>{0, 0}));
  EXPECT_EQ(pauses(2 * blocks, 1, passed), (std::vector<unsigned>{0, 0}));
  EXPECT_GT(pauses(blocks + 1, 1, passed - window - 1)[0], 0u);
  EXPECT_EQ(pauses(blocks + 1, 1, passed - window)[0], 0u);
}
TEST(progress_throttle, does_not_pause_a_block_that_takes_the_share_of_others) {
  EXPECT_EQ(pauses(blocks + 1, 2, 0), (std::vector<unsigned>{0, 0}));
}

}  // namespace
