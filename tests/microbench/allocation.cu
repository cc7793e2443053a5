// SPDX-License-Identifier: Apache-2.0
// The allocation benchmark: its oracles pass places that were handed out once each and counts that
// are right, and nothing else; and every arm of every point is verified by them.

#include "microbench/allocation/histogram_oracle.hpp"
#include "microbench/allocation/place_oracle.cuh"
#include "microbench/allocation/points.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace allocation;

/// Takings that lie in memory.
struct listed {
  taking const* all;
  __device__ taking operator()(std::uint64_t i) const { return all[i]; }
};
/// What is wrong with these, of three counters that stand there.
std::uint64_t wrong(std::vector<taking> const& all,
                    std::vector<std::uint32_t> const& counters = {70, 1, 5}) {
  warden::buffer<taking> const takings{all};
  warden::buffer<std::uint32_t> const values{counters};
  return place_oracle{3, 100}.wrong(takings.size(), listed{takings.data()}, &values);
}
std::vector<taking> with(unsigned number, taking other) {
  std::vector<taking> all{{0, 1, 33}, {0, 0, 1}, {0, 34, 32}, {0, 66, 4},
                          {1, 0, 1},  {2, 2, 3}, {2, 1, 0},   {2, 0, 2}};
  if (number < all.size()) all[number] = other;
  return all;
}

TEST(place_oracle, finds_every_wrong_place) {
  EXPECT_EQ(wrong(with(99, {})), 0u) << "in any order, and nothing at all";
  EXPECT_EQ(wrong(with(1, {0, 1, 1})), 1u) << "one place twice, and one not at all";
  EXPECT_EQ(wrong(with(1, {0, 33, 1})), 1u) << "the last of many places";
  EXPECT_EQ(wrong(with(3, {0, 67, 4})), 1u) << "one behind the last";
  EXPECT_EQ(wrong(with(5, {2, 3, 3})), 1u) << "one behind the last of all";
  EXPECT_EQ(wrong(with(3, {0, ~0u, 4})), 1u) << "none";
  EXPECT_EQ(wrong(with(7, {2, 1, 2})), 1u) << "two that overlap by half";
  EXPECT_EQ(wrong(with(4, {1, 1, 1})), 1u) << "another counter's";
  EXPECT_EQ(wrong(with(99, {}), {70, 2, 5}), 1u) << "a counter that stands elsewhere";
  EXPECT_THROW(wrong(with(0, {0, 1, 100})), std::logic_error);
}

/// What is wrong with these counts of samples in five bins.
std::uint64_t wrong_bins(std::vector<std::uint32_t> const& counted) {
  warden::buffer<std::uint32_t> const samples{std::vector<std::uint32_t>{4, 0, 4, 1, 0, 4}};
  warden::buffer<std::uint32_t> counts{counted};
  return histogram_oracle{5}.wrong({samples.data(), 6, counts.data(), 5});
}

TEST(histogram_oracle, finds_every_wrong_bin) {
  EXPECT_EQ(wrong_bins({2, 1, 0, 0, 3}), 0u);
  EXPECT_EQ(wrong_bins({2, 1, 0, 0, 2}), 1u) << "one lost";
  EXPECT_EQ(wrong_bins({2, 1, 0, 1, 3}), 1u) << "one too many";
  EXPECT_EQ(wrong_bins({2, 2, 0, 0, 2}), 2u) << "one elsewhere";
}

/// Measures all arms that the point has; returns them.
std::set<std::string> verified_arms(bench::point& p, std::uint32_t operations) {
  bench::sweep const all{arms, operations, 1};
  std::set<std::string> there;
  for (std::string const& arm : arms) {
    if (!p.has(arm)) continue;
    there.insert(arm);
    auto const& row = p.measure(arm, all);
    EXPECT_TRUE(row.verified) << p.name(arm);
    EXPECT_EQ(row.counters.at("operations"), operations) << p.name(arm);
  }
  return there;
}

TEST(allocation_bench, copies_that_take_places) {
  // Fewer than a tile, and more than there are blocks for on the simulated device.
  for (std::uint32_t const n : {4u, 20u, (1u << 16) + 36}) {
    for (std::uint32_t const each : {1u, 2u, 8192u}) {
      auto const point = make_copy_point(n, each);
      EXPECT_EQ(verified_arms(*point, n).size(), 7u);
    }
  }
  EXPECT_EQ(make_copy_point(1u << 25, 256)->name("block_scan"), "copy/32M/block_scan/keys:256");
  EXPECT_THROW(make_copy_point(6, 1), std::runtime_error);
}

TEST(allocation_bench, histograms) {
  for (std::string const workload : {"uniform", "zipf099", "one"}) {
    // The last does not fit a block's shared memory.
    for (std::uint32_t const bins : {1u, 256u, 1u << 16}) {
      auto const point = make_histogram_point(workload, bins);
      EXPECT_EQ(verified_arms(*point, test::sized(1003u, 1u << 20)).size(), 6u);
      EXPECT_EQ(point->name("atomics"),
                "histogram/" + workload + "/atomics/keys:" + std::to_string(bins));
    }
  }
}

}  // namespace
