// SPDX-License-Identifier: Apache-2.0
// NewOrder and Payment by all arms, the replay, and the conditions of consistency.

#include "tests/apps/tpcc.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

namespace tpcc = transactions::tpcc;
using tpcc::mix;
using tpcc::workload;

constexpr tpcc::scale small{.warehouses = 2, .customers = 20, .items = 40};

class tpcc_arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(tpcc, tpcc_arms, testing::ValuesIn(tpcc::arm_names()),
                         [](auto const& arm) { return arm.param; });

TEST_P(tpcc_arms, run_in_a_serial_order) {
  for (mix const kinds : {mix::new_orders, mix::payments, mix::both}) {
    workload all{{.of = small, .kinds = kinds, .transactions = 120}};
    auto const arm = make_arm(GetParam(), all);
    arm->tune();
    EXPECT_EQ(test::run_and_check(all, *arm), "") << static_cast<int>(kinds);
  }
}
TEST_P(tpcc_arms, abort_orders_of_unused_items) {
  workload all{{.of = small, .kinds = mix::new_orders, .transactions = 400}};
  EXPECT_EQ(test::run_and_check(all, *make_arm(GetParam(), all)), "");
  unsigned aborted = 0;
  std::vector<std::uint64_t> answers(all.size());
  warden::copy(answers.data(), all.answers(), all.size());
  warden::stream_ref{}.synchronize();
  for (std::uint64_t const answer : answers) aborted += answer == tpcc::aborted ? 1 : 0;
  EXPECT_GT(aborted, 0u);
  EXPECT_LT(aborted, 20u);
}

TEST(tpcc, transactions_are_drawn_as_specified) {
  tpcc::tpcc_options const o{.of = {.warehouses = 8}, .kinds = mix::both, .transactions = 20'000};
  unsigned orders = 0, lines = 0, remote = 0, unused = 0, payments = 0, by_name = 0;
  for (tpcc::transaction const& t : tpcc::draw(o)) {
    ASSERT_LT(t.district, o.of.districts());
    if (t.what == tpcc::kind::payment) {
      ++payments;
      by_name += t.by_name ? 1 : 0;
      continue;
    }
    ++orders;
    lines += t.lines;
    unused += t.lines - t.items_found();
    for (unsigned l = 0; l < t.lines; ++l) remote += t.items[l].supplier() != t.warehouse() ? 1 : 0;
  }
  EXPECT_EQ(orders, payments);
  EXPECT_NEAR(lines, 10 * orders, orders / 10);
  EXPECT_NEAR(remote, lines / 100, lines / 300);
  EXPECT_NEAR(unused, orders / 100, orders / 300);
  EXPECT_NEAR(by_name, payments * 6 / 10, payments / 30);
}
TEST(tpcc, the_index_finds_the_middle_customer) {
  tpcc::tpcc_options const o{.of = {.warehouses = 2, .customers = 1200}};
  tpcc::host_tables const t = tpcc::populate(o);
  tpcc::tables in{};
  in.name_begins = t.name_begins.data();
  in.names = t.names.data();
  for (std::uint32_t const entry : {0u, 999u, 1000u, 19'999u}) {
    tpcc::transaction pays{};
    pays.by_name = true;
    pays.customer = entry;
    std::uint32_t const begin = t.name_begins[entry], n = t.name_begins[entry + 1] - begin;
    ASSERT_GT(n, 0u);
    EXPECT_EQ(customer_of(in, pays), t.names[begin + (n + 1) / 2 - 1]);
  }
}

/// Changes a byte of device memory.
void spoil(void* at) {
  unsigned char byte = 0;
  warden::copy(&byte, static_cast<unsigned char*>(at), 1);
  warden::stream_ref{}.synchronize();
  byte = static_cast<unsigned char>(byte ^ 1);
  warden::copy(static_cast<unsigned char*>(at), &byte, 1);
  warden::stream_ref{}.synchronize();
}
TEST(tpcc, conditions_find_what_is_not_consistent) {
  workload all{{.of = small, .kinds = mix::both, .transactions = 80}};
  auto const arm = make_arm("warden", all);
  std::uint32_t const customer = all.options().of.customer_id(0);
  struct {
    char const* condition;
    void* at;
  } const mistakes[] = {
      {"condition 1 ", &all.records()[small.warehouse_id(0)]},          // W_YTD
      {"condition 2 ", &all.records()[small.district_id(0)].words[1]},  // D_NEXT_O_ID
      {"condition 4 ", &all.in().orders[0].lines},                      // O_OL_CNT
      {"condition 8 ", &all.in().payments[0].amount},                   // H_AMOUNT
      {"condition 10 ", &all.records()[customer]},                      // C_BALANCE
      {"condition 12 ", &all.records()[customer].words[1]},             // C_YTD_PAYMENT
      {"condition 14 ", &all.in().lines[0].quantity},                   // OL_QUANTITY
  };
  for (auto const& mistake : mistakes) {
    ASSERT_EQ(test::run_and_check(all, *arm), "");
    spoil(mistake.at);
    EXPECT_THAT(all.condition_error_text(), testing::StartsWith(mistake.condition));
    EXPECT_NE(all.replay_error_text(false), "");
  }
}
TEST(tpcc, conditions_count_rows) {
  workload all{{.of = small, .kinds = mix::new_orders, .transactions = 80}};
  auto const arm = make_arm("warden", all);
  ASSERT_EQ(test::run_and_check(all, *arm), "");
  // A row of NEW-ORDER, a row of ORDER-LINE, and a payment of the district are lost.
  std::uint32_t const lost = ~0u;
  warden::copy(all.in().new_orders, &lost, 1);
  EXPECT_THAT(all.condition_error_text(), testing::StartsWith("condition 3 "));
  ASSERT_EQ(test::run_and_check(all, *arm), "");
  // Each column of a stock and C_PAYMENT_CNT.
  auto* const stock = reinterpret_cast<std::uint32_t*>(all.records());
  auto* const customer = reinterpret_cast<unsigned char*>(&all.records()[small.customer_id(0)]);
  for (unsigned column = 0; column < 4; ++column) {
    spoil(stock + column);
    EXPECT_THAT(all.condition_error_text(), testing::StartsWith("condition 14 "));
    spoil(stock + column);
  }
  spoil(customer + 13);
  EXPECT_THAT(all.condition_error_text(), testing::StartsWith("condition 13 "));
  ASSERT_EQ(test::run_and_check(all, *arm), "");
  // A torn row.
  std::uint32_t const torn = 1u << 30;
  warden::copy(&all.in().lines[0].item, &torn, 1);
  EXPECT_THAT(all.condition_error_text(), testing::StartsWith("condition 14 "));
  ASSERT_EQ(test::run_and_check(all, *arm), "");
  warden::copy(&all.in().lines[0].item, &lost, 1);
  EXPECT_THAT(all.condition_error_text(), testing::StartsWith("condition 4 "));
}
TEST(tpcc, the_replay_finds_what_is_not_serial) {
  workload all{{.of = small, .kinds = mix::both, .transactions = 40}};
  auto const arm = make_arm("locks", all);
  ASSERT_EQ(test::run_and_check(all, *arm), "");
  spoil(&all.answers()[3]);
  EXPECT_EQ(all.replay_error_text(true), "transaction 3 did not answer as in a serial order");
  spoil(&all.answers()[3]);
  spoil(&all.in().payments[0].number);
  EXPECT_EQ(all.replay_error_text(true), "row 0 of HISTORY is not that of a serial order");
}
TEST(tpcc, refuses_what_it_cannot_do) {
  auto const refusal = [](tpcc::tpcc_options const& o) {
    return test::refusal([&] { workload{o}; });
  };
  EXPECT_THAT(refusal({.of = {.warehouses = 1}}),
              testing::StartsWith("transactions: 1 warehouses are not from 2 to 2048"));
  EXPECT_THAT(refusal({.of = small, .transactions = 0}),
              testing::StartsWith("transactions: 0 transactions are not from 1 to 4194304"));
  workload all{{.of = small, .transactions = 1}};
  EXPECT_THAT(test::refusal([&] { make_arm("no", all); }),
              testing::StartsWith("transactions: no arm 'no'"));
}

}  // namespace
