// SPDX-License-Identifier: Apache-2.0
// Sections on two records without an order: some serial order explains them, whatever they name.

#include "tests/protocol/several_pairs.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <type_traits>

namespace {

using several::cell;
using several::cells;
using several::expect_as_in_some_order;
using several::steps;
using testing::HasSubstr;
using warden::outcome;

TEST(several_pairs, have_a_serial_order) {
  for (std::uint32_t const records : {1u, 2u, 9u, 60u, 5000u}) {
    std::uint32_t const n = records > 9 ? test::sized(1500u, 300'000u) : test::sized(300u, 20'000u);
    expect_as_in_some_order({.records = records, .positions = 2, .bad = 8}, n);
  }
}
TEST(several_pairs, few_have_a_serial_order) {
  for (std::uint32_t const n : {1u, 2u, 33u})
    expect_as_in_some_order({.records = 3, .positions = 2, .aborts = 100}, n);
}
constexpr outcome runs = outcome::commit, refused = outcome::refused;

TEST(several_pairs, wrong_accesses_change_nothing_and_are_reported) {
  steps s{10};
  EXPECT_THAT(s.apply({{{3, 4}, 1}, {{3, 4}, 2}, {{3, 3}, 1}, {{3, 4}, 0}, {{3, 9}, 5}}),
              testing::ElementsAre(refused, refused, runs, runs, refused));
  EXPECT_THAT(test::error_text(s.on),
              HasSubstr("records: 3 sections used a record that they had not named"));
  EXPECT_EQ(s.increase(3), 5u + 1 + 5);
  EXPECT_THAT(s.apply({{{3, 4}, 3}, {{10, 3}, 0}, {{3, 12}, 0}, {{11, 11}, 0}, {{0, 0}, 4}}),
              testing::ElementsAre(refused, refused, refused, refused, runs));
  std::string const text = test::error_text(s.on);
  EXPECT_THAT(text, HasSubstr("access: 1 sections named more than 2 records, and did not run"));
  EXPECT_THAT(text, HasSubstr(" is not below 10 (3 such ids, in rows from 1 on): "));
  EXPECT_EQ(s.later.counts().refused, 4u);
  EXPECT_EQ(s.later.counts().committed, 1u);
  EXPECT_EQ(s.increase(3), 11u);
}
TEST(several_pairs, sections_without_records_run) {
  steps s{0};
  EXPECT_THAT(s.apply({{{0, 0}, 4}, {{0, 0}, 0}, {{0, 0}, 4}}),
              testing::ElementsAre(runs, refused, runs));
  EXPECT_THAT(test::error_text(s.on), HasSubstr(" is not below 0"));
  EXPECT_EQ(s.sum.to_host()[0], 2u);
}
/// At least 3 sections of a window want the same records for long, and at most 12: a hot record has
/// no waiting threads.
TEST(several_pairs, runs_that_do_not_progress_are_stopped) {
  EXPECT_TRUE(several::stops(2500, 333, 333));
}

/// Wide sections do not fit a message. They run in turns, as in a loop.
struct wide_step : several::mixed<2> {
  std::uint32_t more[4];
};
static_assert(sizeof(wide_step) > 36);
static_assert(warden::detail::rounds_layout<several::witness>::omitted == 2);
static_assert(warden::detail::rounds_layout<std::uint32_t[8]>::omitted == 0);
template <class Guarded, class Section>
constexpr bool in_rounds =
    !std::is_same_v<typename warden::detail::rounds_for<Guarded, Section, 2>::type,
                    warden::detail::not_in_rounds>;
static_assert(in_rounds<cells, several::mixed<2>> && !in_rounds<cells, wide_step>);
static_assert(!in_rounds<several::ordered_cells, several::mixed<2>>);

}  // namespace
