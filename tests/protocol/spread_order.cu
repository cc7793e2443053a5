// SPDX-License-Identifier: Apache-2.0
// Sections in order across ranks: what a sequential loop over ranks, launches, blocks, sends and
// threads gives, bit for bit, however many ranks share the loop.

#include "tests/protocol/spread_order.cuh"

namespace {

using spreading::expect_order;
using spreading::placement;
using spreading::ranks;

TEST(spread_order, is_that_of_a_loop_for_any_number_of_ranks) {
  for (int const count : {1, 2, 3, 4}) {
    expect_order<placement::in_memory, 64>(ranks(count), 300, 1500, 5, {});
    expect_order<placement::on_chip, 64>(ranks(count), 3, 1500, 3, {.partitions = 2});
  }
}
TEST(spread_order, is_that_of_a_loop_where_the_log_is_split) {
  expect_order<placement::in_memory, 64>(ranks(2), 3000, 1500, 5, {.partitions = 4, .split = 16});
}

}  // namespace
