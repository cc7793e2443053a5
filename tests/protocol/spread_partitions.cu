// SPDX-License-Identifier: Apache-2.0
// Number of partitions that a rank's log has unless its options say it.

#include "tests/protocol/spread.cuh"

#include <warden/runtime.hpp>

#include <gmock/gmock.h>

#include <bit>
#include <cstdint>
#include <string>

namespace {

using spreading::on_ranks;
using spreading::ranks;
using testing::HasSubstr;

/// Expects `partitions` of each of two ranks, with `keys` records of both: a rank that has one
/// partition is told the number of the other one.
void expect_partitions(std::uint32_t keys, std::uint32_t partitions) {
  on_ranks(ranks(2), [&](warden::communicator const& world) {
    spreading::rank_bench<deferring::small_blocks<>> b{world, keys};
    EXPECT_THAT(spreading::told([&] {
                  warden::deferred later{b.on(), 100, {.partitions = world.rank() == 1 ? 1u : 0u}};
                }),
                HasSubstr("rank 1 has 1 partitions of a rank, and rank 0 has " +
                          std::to_string(partitions) + ":"));
  });
}

TEST(spread_partitions, two_ranks_together_have_as_many_as_one_device) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  auto const each = std::bit_floor(static_cast<std::uint32_t>(facts.multiprocessors));
  ASSERT_GE(each, 2u) << "one multiprocessor: both numbers would be equal";
  expect_partitions(4 * each, each);
  // Records of a partition do not fit a first-level cache.
  std::size_t const fits = facts.shared_bytes_per_block / sizeof(deferring::entry);
  expect_partitions(static_cast<std::uint32_t>(2 * each * (fits + 2)), 2 * each);
}

}  // namespace
