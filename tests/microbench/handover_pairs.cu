// SPDX-License-Identifier: Apache-2.0
// The handover benchmark's sections on two records: their gaps, their verification, and every arm.

#include "microbench/handover/pair_check.cuh"
#include "microbench/handover/points.hpp"
#include "tests/microbench/scripted_clock.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using handover::pair_record;
using test::scripted_clock;
using make_section = handover::make_pair_stamp<scripted_clock>;

void run(pair_record& first, pair_record& second, std::uint32_t number) {
  make_section{}(number)(first, second, {});
}

TEST(handover_pairs, gaps) {
  pair_record a{}, b{}, c{};
  scripted_clock::prepare({100, 103, 110, 111, 109, 120, 127, 130});
  run(a, b, 0);
  EXPECT_EQ(a.sum, 0);
  EXPECT_EQ(b.end, 103u);
  run(b, c, 1);  // 7 after the section on a and b
  EXPECT_EQ(b.sum, 7);
  EXPECT_EQ(b.minimum, 7);
  EXPECT_EQ(c.sum, 0);
  run(c, a, 2);  // 2 before the section on b and c, by another clock; 6 after that on a and b
  EXPECT_EQ(c.sum, -2);
  EXPECT_EQ(c.minimum, -2);
  EXPECT_EQ(a.sum, 6);
  run(b, b, 3);  // 16 after that on b and c, and counted once
  EXPECT_EQ(b.sum, 23);
  EXPECT_EQ(b.minimum, 7);
  EXPECT_EQ(b.count, 3u);
  EXPECT_EQ(b.end, 130u);
  EXPECT_EQ(a.count, 2u);
  EXPECT_EQ(c.count, 2u);
}

TEST(handover_pairs, clock_beyond_32_bits) {
  pair_record a{}, b{};
  scripted_clock::prepare({0xffff'fff0, 0xffff'fffe, 0x1'0000'0003, 0x1'0000'0009});
  run(a, b, 0);
  run(b, a, 1);
  EXPECT_EQ(a.sum, 5);
  EXPECT_EQ(b.sum, 5);
}

TEST(handover_pairs, gaps_of_seconds) {
  pair_record a{}, b{};
  scripted_clock::prepare({100, 200, 4'000'000'200, 4'000'000'300, 8'000'000'000, 8'000'000'001});
  run(a, b, 0);
  run(a, b, 1);
  EXPECT_EQ(a.sum, 4'000'000'000);
  EXPECT_EQ(a.minimum, 0x7fffffff);
  run(b, a, 2);
  EXPECT_EQ(a.sum, 7'999'999'700);
  // Two gaps of four seconds each, in a run that may have been longer than what can be told apart.
  std::vector<std::uint64_t> const asked{3, a.numbers};
  EXPECT_EQ(handover::wrong_records({a}, asked, 4'293'000'000), 1u) << "they do not fit";
  EXPECT_EQ(handover::wrong_records({a}, asked, 8'000'000'001), 1u) << "too long a run";
}

struct pair {
  std::uint32_t first, second;
};
// The records that each of 5 sections is sent to.
std::vector<pair> const asked{{0, 1}, {1, 2}, {2, 0}, {1, 1}, {0, 2}};
constexpr std::uint32_t keys = 3;

/// A section that ran.
struct ran {
  std::uint32_t number;
  pair on;
};
/// All of them, in order.
std::vector<ran> all_of_them() {
  std::vector<ran> all;
  for (std::uint32_t i = 0; i < asked.size(); ++i) all.push_back({i, asked[i]});
  return all;
}

/// How many records the check finds wrong after these, changed by `change`.
template <class Change>
std::size_t wrong_after(std::vector<ran> const& sections, Change change) {
  std::vector<pair_record> records(keys);
  std::vector<std::uint64_t> readings;
  for (std::uint64_t i = 0; i < 2 * sections.size(); ++i) readings.push_back(10 + i * i);
  scripted_clock::prepare(readings);
  for (ran const& s : sections) run(records[s.on.first], records[s.on.second], s.number);
  change(records);
  std::vector<std::uint32_t> firsts, seconds;
  for (pair const& p : asked) {
    firsts.push_back(p.first);
    seconds.push_back(p.second);
  }
  warden::buffer<std::uint32_t> const first_ids{firsts}, second_ids{seconds};
  warden::buffer<std::uint64_t> of_records{2 * keys};
  of_records.fill_bytes(0);
  handover::section_pairs const all{first_ids.data(), second_ids.data(),
                                    static_cast<std::uint32_t>(asked.size())};
  warden::simt::launch(&handover::find_asked<make_section>, 2, 32, 0, {all, of_records.data()}, {});
  std::uint64_t const span = readings.empty() ? 0 : readings.back();
  return handover::wrong_records(records, of_records.to_host(), span);
}
std::size_t wrong_after(std::vector<ran> const& sections) {
  return wrong_after(sections, [](auto&) {});
}

TEST(handover_pairs, verification) {
  auto sections = all_of_them();
  EXPECT_EQ(wrong_after(sections), 0u);
  EXPECT_EQ(wrong_after({sections.rbegin(), sections.rend()}), 0u);
  sections.pop_back();
  EXPECT_EQ(wrong_after(sections), 2u) << "lost";
  sections.push_back({3, asked[3]});
  EXPECT_EQ(wrong_after(sections), 3u) << "lost, and one on one record doubled";
  sections = all_of_them();
  sections.push_back(sections[0]);
  EXPECT_EQ(wrong_after(sections), 2u) << "doubled";
  sections = all_of_them();
  sections[4].number = 2;
  EXPECT_EQ(wrong_after(sections), 2u) << "one lost, another doubled";
  sections = all_of_them();
  sections[4].on = {0, 1};
  EXPECT_EQ(wrong_after(sections), 2u) << "on another second record";
}

TEST(handover_pairs, verification_of_gaps) {
  auto const after = [](auto change) { return wrong_after(all_of_them(), change); };
  EXPECT_EQ(after([](auto& records) { records[1].sum = records[1].minimum; }), 1u)
      << "one left out";
  EXPECT_EQ(after([](auto& records) { records[2].sum += 1000; }), 1u) << "longer than the run";
  EXPECT_EQ(wrong_after({}, [](auto&) {}), keys) << "none ran";
}

TEST(handover_pairs, every_arm_is_verified) {
  // Locks as written take long where few records are wanted by many.
  bench::sweep const all{handover::pair_arms, 200, 1};
  for (std::uint32_t const n : {16u, 256u}) {
    auto const point = handover::make_pairs_point("uniform", n);
    for (std::string const& arm : handover::pair_arms) {
      ASSERT_TRUE(point->has(arm)) << arm;
      EXPECT_EQ(point->name(arm), "pairs/uniform/" + arm + "/keys:" + std::to_string(n));
      EXPECT_TRUE(point->measure(arm, all).verified) << arm << " on " << n << " records";
    }
  }
}

TEST(handover_pairs, arms_of_others) {
  auto const point = handover::make_pairs_point("uniform", 5);
  EXPECT_FALSE(point->has("warden_runs"));
  EXPECT_FALSE(handover::make_pairs_point("uniform", 1u << 20)->has("warden_nested_on_chip"));
}

}  // namespace
