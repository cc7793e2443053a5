// SPDX-License-Identifier: Apache-2.0
// The handover benchmark's gaps, by a clock whose readings are known, and its verification.

#include "microbench/handover/operation.cuh"
#include "tests/microbench/scripted_clock.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using test::scripted_clock;
using operation = handover::stamp<scripted_clock>;

void run(handover::record& r, std::uint32_t number) { operation::make{}(number)(r, {}); }

TEST(handover, gaps) {
  handover::record r{};
  // From an end to the start after it: 7, 2, and one back by a tick.
  scripted_clock::prepare({100, 103, 110, 111, 113, 120, 119, 130});
  run(r, 0);
  EXPECT_EQ(r.count, 1u);
  EXPECT_EQ(r.sum, 0);
  run(r, 1);
  EXPECT_EQ(r.minimum, 7);
  EXPECT_EQ(r.maximum, 7);
  run(r, 2);
  run(r, 3);
  EXPECT_EQ(r.count, 4u);
  EXPECT_EQ(r.sum, 8);
  EXPECT_EQ(r.minimum, -1);
  EXPECT_EQ(r.maximum, 7);
  EXPECT_EQ(r.end, 130u);
}

TEST(handover, clock_beyond_32_bits) {
  handover::record r{};
  scripted_clock::prepare({0xffff'fff0, 0xffff'fffe, 0x1'0000'0003, 0x1'0000'0009});
  run(r, 0);
  run(r, 1);
  EXPECT_EQ(r.sum, 5);
}

/// Returns the number of errors that the oracle finds after `numbers[i]` ran on record `on[i]`, for
/// 4 operations on 2 records in turn.
std::uint64_t wrong_after(std::vector<std::uint32_t> const& numbers,
                          std::vector<std::uint32_t> const& on, std::int64_t more_gap = 0,
                          std::uint32_t more_sections = 0) {
  std::vector<handover::record> ran(2);
  std::vector<std::uint64_t> readings;
  for (std::uint64_t i = 0; i < 2 * numbers.size(); ++i) readings.push_back(10 + i * i);
  scripted_clock::prepare(readings);
  for (std::size_t i = 0; i < numbers.size(); ++i) run(ran[on[i]], numbers[i]);
  ran[1].sum += more_gap;
  ran[1].count += more_sections;
  warden::buffer<handover::record> records{ran};
  warden::buffer<std::uint32_t> ids{std::vector<std::uint32_t>{0, 1, 0, 1}};
  warden::buffer<std::uint64_t> per_key{4}, wrong{1};
  per_key.fill_bytes(0);
  wrong.fill_bytes(0);
  operation::check_arguments const a{
      records.data(), ids.data(), 4, 2, {}, {nullptr, per_key.data(), wrong.data()}};
  warden::simt::launch(&contention::first_check<operation>, 2, 32, 0, a, {});
  warden::simt::launch(&contention::second_check<operation>, 2, 32, 0, a, {});
  return wrong.to_host()[0];
}

TEST(handover, verification) {
  EXPECT_EQ(wrong_after({0, 1, 2, 3}, {0, 1, 0, 1}), 0u);
  EXPECT_EQ(wrong_after({3, 2, 1, 0}, {1, 0, 1, 0}), 0u);
  EXPECT_EQ(wrong_after({0, 1, 2}, {0, 1, 0}), 1u) << "lost";
  EXPECT_EQ(wrong_after({0, 1, 2, 3, 3}, {0, 1, 0, 1, 1}), 1u) << "doubled";
  EXPECT_EQ(wrong_after({0, 1, 2, 1}, {0, 1, 0, 1}), 1u) << "one lost, another doubled";
  EXPECT_EQ(wrong_after({0, 1, 2, 3}, {0, 1, 1, 1}), 2u) << "on another record";
  EXPECT_EQ(wrong_after({0, 1, 2, 3}, {0, 1, 0, 1}, 1), 1u) << "a gap that was not";
  EXPECT_EQ(wrong_after({0, 1, 2, 3}, {0, 1, 0, 1}, 0, ~0u), 1u) << "one counted too few";
}

}  // namespace
