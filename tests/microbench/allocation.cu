// SPDX-License-Identifier: Apache-2.0
// The allocation benchmark: its oracles pass places that were handed out once each and counts that
// are right, and nothing else; and every arm of every point is verified by them.

#include "microbench/allocation/emission_oracle.hpp"
#include "microbench/allocation/histogram_oracle.hpp"
#include "microbench/allocation/item_counts.hpp"
#include "microbench/allocation/place_oracle.cuh"
#include "microbench/allocation/points.hpp"
#include "microbench/allocation/word_stream.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace allocation;

/// Takings that lie in memory.
struct listed {
  taking const* all;
  __device__ taking operator()(std::uint64_t i) const { return all[i]; }
};
/// Returns the number of errors in these places, for three counters.
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
  EXPECT_EQ(wrong(with(3, {0, 67, 4})), 1u) << "one after the last";
  EXPECT_EQ(wrong(with(5, {2, 3, 3})), 1u) << "one after the last of all";
  EXPECT_EQ(wrong(with(3, {0, ~0u, 4})), 1u) << "none";
  EXPECT_EQ(wrong(with(7, {2, 1, 2})), 1u) << "two that overlap by half";
  EXPECT_EQ(wrong(with(4, {1, 1, 1})), 1u) << "another counter's";
  EXPECT_EQ(wrong(with(99, {}), {70, 2, 5}), 1u) << "a counter that stands elsewhere";
  EXPECT_THROW(wrong(with(0, {0, 1, 100})), std::logic_error);
}

/// Returns the number of errors in these counts of samples in five bins.
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

/// Returns the number of errors in these elements of items that emit 2, none, 3 and 1. `numbered`:
/// the element's number among the item's is stored above the item's.
std::uint64_t wrong_elements(std::vector<std::uint32_t> elements, bool in_order, bool numbered) {
  std::vector<std::uint32_t> seen(4);
  std::uint32_t const flip = 0x1234567;
  for (std::uint32_t& element : elements) {
    if (numbered && element < 4) element |= seen[element]++ << item_bits;
    if (!numbered) element ^= flip;
  }
  warden::buffer<std::uint32_t> const counts{std::vector<std::uint32_t>{2, 0, 3, 1}};
  warden::buffer<std::uint32_t> const emitted_elements{elements};
  emitted what{counts.data(), 4, emitted_elements.data(), elements.size()};
  if (!numbered) {
    what.bits = 32;
    what.flip = flip;
  }
  return emission_oracle{4}.wrong(what, in_order);
}

TEST(emission_oracle, finds_every_wrong_element) {
  for (bool const numbered : {true, false}) {
    auto const wrong = [&](std::vector<std::uint32_t> const& elements, bool in_order = true) {
      return wrong_elements(elements, in_order, numbered);
    };
    EXPECT_EQ(wrong({0, 0, 2, 2, 2, 3}), 0u);
    EXPECT_EQ(wrong({2, 2, 2, 3, 0, 0}), 1u) << "in another order";
    EXPECT_EQ(wrong({2, 2, 2, 3, 0, 0}, false), 0u) << "in any order";
    EXPECT_EQ(wrong({0, 0, 2, 2, 2}), 1u) << "an item without elements";
    EXPECT_EQ(wrong({0, 0, 2, 2, 3}), 1u) << "one lost";
    EXPECT_EQ(wrong({0, 0, 2, 2, 2, 2, 3}), 1u) << "one doubled";
    EXPECT_EQ(wrong({0, 0, 1, 2, 2, 2, 3}), 1u) << "one of an item that emits none";
    EXPECT_EQ(wrong({0, 0, 2, 2, 2, 3, 7}), 1u) << "no item's";
    EXPECT_GE(wrong({0, 2, 2, 2, 0, 3}, false), 1u) << "an item's apart";
  }
  warden::buffer<std::uint32_t> const counts{std::vector<std::uint32_t>{2}};
  std::vector<std::uint32_t> const swapped{1u << item_bits, 0};
  warden::buffer<std::uint32_t> const elements{swapped};
  EXPECT_GE(emission_oracle{1}.wrong({counts.data(), 1, elements.data(), 2}, false), 1u)
      << "an item's in another order";
  EXPECT_THROW(emission_oracle{1}.wrong({counts.data(), 1, elements.data(), 1ull << 32}, false),
               std::logic_error);
}

TEST(word_stream, reads_and_writes_all) {
  for (auto const& [in, out] :
       {std::pair{40'000u, 9'004u}, {9'004u, 40'000u}, {3u, 400u}, {8u, 8u}}) {
    warden::buffer<std::uint32_t> from{in}, to{out};
    from.fill_bytes(3);
    to.fill_bytes(0xff);
    word_stream const all{from.data(), in, to.data(), out};
    EXPECT_FALSE(was_streamed(all));
    stream_async(all);
    EXPECT_TRUE(was_streamed(all)) << in << " to " << out;
    std::uint32_t const other = 5;
    warden::copy(to.data() + (out - out % 4 - 1), &other, 1);
    EXPECT_FALSE(was_streamed(all)) << in << " to " << out;
  }
}

TEST(item_counts, of_every_spread) {
  std::uint32_t const n = 4096;
  warden::buffer<std::uint32_t> counts{n};
  for (std::uint32_t const least : {0u, 1u}) {
    for (std::string const& spread : spreads) {
      item_counts drawn{spread, least};
      std::uint64_t const total = drawn.draw(counts.data(), n, 7);
      std::vector<std::uint32_t> all = counts.to_host();
      EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::uint64_t{0}), total) << spread;
      std::sort(all.begin(), all.end());
      EXPECT_GE(all.front(), least) << spread;
      if (spread == "uniform8") {
        EXPECT_EQ(all.back(), 8 + least);
        EXPECT_NEAR(total, (4. + least) * n, n / 8.);
      } else if (spread == "one") {
        EXPECT_EQ(all.back(), 4 * n + least);
        EXPECT_EQ(all[n - 2], least);
      } else {
        // About n / r of rank r.
        EXPECT_GT(all.back(), n / 16);
        for (unsigned const rank : {64u, 256u, 1024u})
          EXPECT_NEAR(all[n - rank], double(n) / rank, 1. + n / rank / 2.) << rank;
      }
      std::vector<std::uint32_t> const first = counts.to_host();
      EXPECT_EQ(drawn.draw(counts.data(), n, 7), total) << "the seed alone decides";
      EXPECT_EQ(counts.to_host(), first);
      drawn.draw(counts.data(), n, 8);
      EXPECT_NE(counts.to_host(), first);
    }
  }
  EXPECT_THROW((item_counts{"two", 0}), std::runtime_error);
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
      EXPECT_EQ(verified_arms(*point, n).size(), 8u);
    }
  }
  EXPECT_EQ(make_copy_point(1u << 25, 256)->name("block_scan"), "copy/32M/block_scan/keys:256");
  EXPECT_THROW(make_copy_point(6, 1), std::runtime_error);
}

TEST(allocation_bench, items_that_emit_and_runs_that_are_decoded) {
  for (std::string const& spread : spreads) {
    for (std::uint32_t const n : {1u, test::sized(1003u, 1u << 20)}) {
      auto const emit = make_emit_point(spread), decode = make_decode_point(spread);
      EXPECT_EQ(verified_arms(*emit, n).size(), 8u);
      EXPECT_EQ(verified_arms(*decode, n).size(), 5u);
      EXPECT_EQ(emit->name("ordered"), "emit/" + spread + "/ordered/keys:1");
      EXPECT_EQ(decode->name("copy"), "decode/" + spread + "/copy/keys:1");
    }
  }
}

TEST(allocation_bench, items_that_take_of_many_counters) {
  for (std::uint32_t const counters : {1u, 7u, 4096u}) {
    for (std::uint32_t const n : {1u, test::sized(1003u, 1u << 20)}) {
      auto const point = make_take_point(counters);
      EXPECT_EQ(verified_arms(*point, n).size(), counters == 1 ? 4u : 3u);
    }
  }
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
