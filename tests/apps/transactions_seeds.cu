// SPDX-License-Identifier: Apache-2.0
// Transactions under many schedules of the simulated device.

#include "tests/apps/tpcc.cuh"
#include "tests/apps/transactions.cuh"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

namespace {

class transaction_arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(transactions_seeds, transaction_arms,
                         testing::ValuesIn(transactions::arm_names()),
                         [](auto const& arm) { return arm.param; });

TEST_P(transaction_arms, run_in_a_serial_order_under_many_schedules) {
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    transactions::ycsb all{{.rows = seed % 2 == 0 ? 14u : 60u,
                            .row_bytes = seed % 4 < 2 ? 8u : 100u,
                            .writes = seed % 3 == 0 ? 10. : 50.,
                            .transactions = 24,
                            .repeats = seed % 5 == 0,
                            .seed = seed}};
    auto const arm = make_arm(GetParam(), all, {.variant = seed % 8 < 3, .hot_accesses = 4});
    ASSERT_EQ(test::run_and_check(all, *arm), "");
  });
}

namespace tpcc = transactions::tpcc;

class tpcc_arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(transactions_seeds, tpcc_arms, testing::ValuesIn(tpcc::arm_names()),
                         [](auto const& arm) { return arm.param; });

TEST_P(tpcc_arms, run_in_a_serial_order_under_many_schedules) {
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    tpcc::workload all{{.of = {.warehouses = 2, .customers = 10, .items = 20},
                        .kinds = static_cast<tpcc::mix>(seed % 3),
                        .transactions = 24,
                        .seed = seed}};
    auto const arm = make_arm(GetParam(), all, {.variant = seed % 8 < 3, .hot_accesses = 4});
    ASSERT_EQ(test::run_and_check(all, *arm), "");
  });
}

}  // namespace
