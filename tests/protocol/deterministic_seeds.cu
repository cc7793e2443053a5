// SPDX-License-Identifier: Apache-2.0
// order::deterministic under many schedules: several warps combine one record.

#include "tests/protocol/deterministic.cuh"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

TEST(deterministic_seeds, warps_that_combine_one_record_pass_their_values_on) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    // Two levels above the chunks.
    auto const n = static_cast<std::uint32_t>(1030 + seed % 50);
    std::vector<std::uint32_t> ids(n + 40);
    for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = i < n ? 1 : i % 3;
    warden::buffer<std::uint32_t> const on{ids};
    warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(3, 7)};
    deterministic_test::guarded g{values};
    g.apply_async(on.data(), ids.size(), deterministic_test::numbered{});
    g.wait();
    EXPECT_EQ(values.to_host(), deterministic_test::expected(ids, 3, 7));
    // Another run finds the memory of trees as the first one left it.
    values.fill_bytes(0);
    g.apply_async(on.data(), ids.size(), deterministic_test::numbered{});
    g.wait();
    EXPECT_EQ(values.to_host(), deterministic_test::expected(ids, 3, 0));
  });
}

TEST(deterministic_seeds, blocks_sort_a_bucket_together) {
  // Two tiles. Records 0 and 1 have one bucket, with more sections than a block holds.
  std::vector<std::uint32_t> ids(9000);
  for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = i % 50 == 0 ? 2 : i % 7 % 2;
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(8, 7)};
  deterministic_test::guarded g{values};
  g.apply_async(on.data(), ids.size(), deterministic_test::numbered{});
  g.wait();
  EXPECT_EQ(values.to_host(), deterministic_test::expected(ids, 8, 7));
}

}  // namespace
