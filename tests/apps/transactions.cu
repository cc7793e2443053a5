// SPDX-License-Identifier: Apache-2.0
// Transactions by all arms, and the check itself.

#include "apps/transactions/tictoc.cuh"
#include "tests/apps/transactions.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using transactions::transaction;
using transactions::ycsb;
using transactions::ycsb_options;

class transaction_arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(transactions, transaction_arms,
                         testing::ValuesIn(transactions::arm_names()),
                         [](auto const& arm) { return arm.param; });

TEST_P(transaction_arms, run_in_a_serial_order) {
  for (unsigned const bytes : {8u, 100u}) {
    ycsb all{{.rows = 5000, .row_bytes = bytes, .theta = 0.9, .transactions = 200}};
    auto const arm = make_arm(GetParam(), all, {.hot_accesses = 8});
    arm->tune();
    EXPECT_EQ(test::run_and_check(all, *arm), "") << bytes << " bytes";
    if (GetParam() == "warden") {
      EXPECT_GT(arm->counters().at("by_owners"), 100u);
    }
  }
}
TEST_P(transaction_arms, take_rows_that_repeat_and_reads_alone) {
  ycsb repeating{{.rows = 12, .transactions = 60, .repeats = true}};
  for (bool const variant : {false, true}) {
    auto const arm = make_arm(GetParam(), repeating, {.variant = variant});
    EXPECT_EQ(test::run_and_check(repeating, *arm), "") << variant;
  }
  ycsb reading{{.rows = 10, .theta = 0.99, .writes = 0, .transactions = 60}};
  EXPECT_EQ(test::run_and_check(reading, *make_arm(GetParam(), reading)), "");
}
TEST_P(transaction_arms, waits_end) {
  if (GetParam().starts_with("warden")) GTEST_SKIP() << "it has no locks that stay";
  for (bool const variant : {false, true}) {
    ycsb all{{.rows = 10, .transactions = 4}};
    auto const arm = make_arm(GetParam(), all, {.limit_seconds = 0.01, .variant = variant});
    // The lock of a row is held, as a lock and as a version. All transactions name this row.
    std::uint32_t const held = 1u << 31;
    warden::copy(all.words() + 6, &held, 1);
    std::uint64_t const locked = transactions::row_times{0}.locked().word();
    warden::copy(all.times() + 6, &locked, 1);
    arm->run_async();
    EXPECT_THROW(arm->wait(), warden::timeout_error) << variant;
    EXPECT_EQ(test::run_and_check(all, *arm), "") << variant;
  }
}

TEST(transactions, are_drawn_as_asked) {
  ycsb const all{{.rows = 1000, .theta = 0.99, .writes = 5, .transactions = 2000}};
  warden::buffer<transaction> copied{all.size()};
  warden::copy(copied.data(), all.all(), all.size());
  std::vector<unsigned> times(1000);
  unsigned writes = 0;
  for (transaction const& t : copied.to_host()) {
    std::set<std::uint32_t> ids;
    for (unsigned k = 0; k < transactions::operations; ++k) {
      ASSERT_LT(t.id(k), 1000u);
      ids.insert(t.id(k));
      ++times[t.id(k)];
      writes += t.writes(k) ? 1 : 0;
    }
    EXPECT_EQ(ids.size(), transactions::operations) << "a row twice";
  }
  EXPECT_NEAR(writes, 1000, 100);
  std::sort(times.rbegin(), times.rend());
  // The rows of one transaction differ, so the first one has less than its share by the law, 1/7.7.
  EXPECT_NEAR(times[0], 1600, 200);
  EXPECT_GT(times[0], times[9] * 5);
}
TEST(transactions, the_check_finds_what_is_not_serial) {
  ycsb all{{.rows = 10, .transactions = 20}};
  auto const arm = make_arm("locks", all);
  transactions::serial_check check{all};
  ASSERT_EQ(test::run_and_check(all, *arm), "");
  std::uint64_t const wrong = 0;
  warden::copy(all.serial() + 3, &wrong, 1);
  warden::copy(all.serial() + 5, &wrong, 1);
  EXPECT_THAT(all.error_text(true), testing::EndsWith("have one serial number"));
  EXPECT_THAT(check.error_text(true), testing::EndsWith("has no serial number of its own"));
  auto const reads = testing::EndsWith("did not read what it reads in a serial order");
  EXPECT_THAT(all.error_text(false), reads);
  EXPECT_THAT(check.error_text(false), reads);
  ASSERT_EQ(test::run_and_check(all, *arm), "");
  warden::copy(all.rows<transactions::small_row>()[7].words, &wrong, 1);
  EXPECT_EQ(all.error_text(true), "row 7 is not that of a serial order");
  EXPECT_EQ(check.error_text(true), "row 7 is not that of a serial order");
  all.open_async();
  EXPECT_EQ(all.error_text(true), "transaction 0 did not run");
  EXPECT_EQ(check.error_text(true), "transaction 0 has no serial number of its own");
}
TEST(transactions, the_check_on_the_device_finds_changes_of_other_rows) {
  ycsb all{{.rows = 1000, .transactions = 3}};
  auto const arm = make_arm("warden", all);
  ASSERT_EQ(test::run_and_check(all, *arm), "");
  warden::buffer<transaction> copied{all.size()};
  warden::copy(copied.data(), all.all(), all.size());
  std::set<std::uint32_t> ids;
  for (transaction const& t : copied.to_host()) {
    for (unsigned k = 0; k < transactions::operations; ++k) ids.insert(t.id(k));
  }
  std::uint32_t other = 0;
  while (ids.contains(other)) ++other;
  std::uint64_t const wrong = 0;
  warden::copy(all.rows<transactions::small_row>()[other].words, &wrong, 1);
  EXPECT_THAT(transactions::serial_check{all}.error_text(false),
              testing::HasSubstr(" rows have changed; in a serial order "));
}
TEST(transactions, times_of_a_row_grow) {
  using transactions::row_times;
  row_times const written{1000};
  EXPECT_EQ(written.read(), 1000u);
  EXPECT_TRUE(written.is_unchanged(written));
  EXPECT_FALSE(written.locked().is_unchanged(written));
  row_times const near = written.read_at(1000 + row_times::most_span);
  EXPECT_EQ(near.written(), 1000u);
  EXPECT_EQ(near.read(), 1000 + row_times::most_span);
  EXPECT_TRUE(near.is_unchanged(written));
  // The span is too long for the word.
  row_times const far = near.read_at(near.read() + 3);
  EXPECT_EQ(far.read(), near.read() + 3);
  EXPECT_FALSE(far.is_unchanged(written));
  EXPECT_FALSE(far.is_locked());
}
TEST(transactions, refuses_what_it_cannot_do) {
  auto const refusal = [](ycsb_options const& o) { return test::refusal([&] { ycsb{o}; }); };
  EXPECT_THAT(refusal({.rows = 9}),
              testing::StartsWith("transactions: 9 rows are not from 10 to 134217728"));
  EXPECT_THAT(refusal({.row_bytes = 16}),
              testing::StartsWith("transactions: rows of 16 bytes; there are 8 and 100"));
  EXPECT_THAT(refusal({.theta = 1}), testing::HasSubstr("is not from 0 to 0.999"));
  EXPECT_THAT(refusal({.writes = 101}), testing::HasSubstr("% of writes are not from 0 to 100"));
  EXPECT_THAT(refusal({.transactions = 0}),
              testing::StartsWith("transactions: 0 transactions are not from 1 to 67108864"));
  ycsb all{{.rows = 10, .transactions = 1}};
  EXPECT_THAT(test::refusal([&] { make_arm("no", all); }),
              testing::StartsWith("transactions: no arm 'no'"));
}

}  // namespace
