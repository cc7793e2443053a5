// SPDX-License-Identifier: Apache-2.0
// The number of operations of a timed run: such that the rate does not depend on it.

#include "microbench/support/enough_operations.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

constexpr std::uint32_t least = 1u << 16, most = 1u << 26;

/// A run with a fixed cost, as one in rounds has.
auto costs(double fixed_seconds, double each_seconds) {
  return [=](std::uint32_t n) { return fixed_seconds + n * each_seconds; };
}

TEST(enough_operations, take_the_time_aimed_at) {
  for (double const rate : {1e6, 1e7, 1e8, 1e9}) {
    auto const seconds_of = costs(0, 1 / rate);
    double const seconds = seconds_of(bench::enough_operations(least, most, seconds_of));
    EXPECT_GT(seconds, bench::aim_seconds / 2) << rate;
    EXPECT_LT(seconds, 4 * bench::aim_seconds) << rate;
  }
}
TEST(enough_operations, have_a_rate_that_more_would_not_raise) {
  for (double const fixed : {1e-3, 6.6e-3, 30e-3}) {
    for (double const rate : {1e7, 1e8, 2e9}) {
      auto const seconds_of = costs(fixed, 1 / rate);
      std::uint32_t const n = bench::enough_operations(least, most, seconds_of);
      if (n == most || seconds_of(n) > 4 * bench::aim_seconds) continue;
      EXPECT_LT((2 * n / seconds_of(2 * n)) / (n / seconds_of(n)), 1.06) << fixed << ", " << rate;
    }
  }
  // 6.8 ms for 2^19, but 40 ms for 2^26.
  EXPECT_EQ(bench::enough_operations(least, most, costs(6.5e-3, 0.5e-9)), most);
}
TEST(enough_operations, are_no_more_than_a_slow_run_has_time_for) {
  EXPECT_EQ(bench::enough_operations(least, most, costs(0, 1e-3)), least);
  EXPECT_LT(costs(0.1, 1e-8)(bench::enough_operations(least, most, costs(0.1, 1e-8))),
            8 * bench::aim_seconds);
}

}  // namespace
