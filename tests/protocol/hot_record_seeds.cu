// SPDX-License-Identifier: Apache-2.0
// Runs in which most sections are for one record, under many schedules.

#include "tests/protocol/hot_record.cuh"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

TEST(hot_record_seeds, every_section_runs_once) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    auto const cold = static_cast<std::uint32_t>(seed % 5 * 4);
    hot::run<hot::entry<1>, hot::add<2>>({20, cold, 5000}, 7000, 1);
  });
}

}  // namespace
