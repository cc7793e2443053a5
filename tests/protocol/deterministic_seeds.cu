// SPDX-License-Identifier: Apache-2.0
// order::deterministic under many schedules: several warps combine one record.

#include "tests/protocol/deterministic.cuh"
#include "tests/support/many_schedules.cuh"

#include <warden/simulation.hpp>

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

TEST(deterministic_seeds, a_log_that_stores_sections_apart_keeps_their_records) {
  using section = deterministic_test::long_mixed<8>;
  // Two shards.
  auto const usual = warden::current_tuning(warden::runtime::current_device());
  auto several = usual;
  several.sections_per_shard = 1u << 12;
  warden::set_tuning(several);
  auto ids = deterministic_test::random_ids(9600, 40, 3);
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(40, 7)};
  warden::basic_guarded<deterministic_test::in_trees, std::uint64_t, section> g{values};
  deterministic_test::run_sized<section>(g, on.data(), 9600);
  g.wait();
  for (std::size_t i = 0; i < ids.size(); i += 7) ids[i] = ~0u;
  EXPECT_EQ(values.to_host(), deterministic_test::expected<section::numbered>(ids, 40, 7));
  warden::set_tuning(usual);
}

TEST(deterministic_seeds, records_go_on_in_the_next_tile) {
  // The least run that looks at the order of its ids.
  warden::sim::settings s = warden::sim::current_settings();
  s.multiprocessors = 1;
  warden::sim::configure(s);
  std::vector<std::uint32_t> ids(4 * warden::detail::tile_sections);
  // A record of many tiles, and records that begin at all places of a tile.
  for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = i < 5000 ? 0 : i / 41;
  warden::buffer<std::uint32_t> on{ids};
  std::uint32_t const records = ids.back() + 1;
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(records, 7)};
  deterministic_test::guarded g{values};
  for (bool const ascends : {true, false, true}) {
    std::vector<std::uint32_t> now = ids;
    if (!ascends) now[2] = 1;
    warden::copy(on.data(), now.data(), now.size());
    values.fill_bytes(0);
    g.apply_async(on.data(), ids.size(), deterministic_test::numbered{});
    g.wait();
    EXPECT_EQ(values.to_host(), deterministic_test::expected(now, records, 0));
  }
}

}  // namespace
