// SPDX-License-Identifier: Apache-2.0
// Runs in which most sections of a partition are for one record.

#include "tests/protocol/hot_record.cuh"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using hot::add;
using hot::entry;
using hot::run;
using hot::tick;

constexpr std::uint32_t n = 12'000;

TEST(hot_record, alone) {
  run<entry<1>, add<1>>({1, 0, n}, n);
  run<entry<1>, add<2>>({1, 0, n}, n);
}
TEST(hot_record, among_cold_ones) {
  for (std::uint32_t const cold : {1u, 8u, 24u, 32u, 40u})
    run<entry<1>, add<2>>({300, cold, n}, n, 2);
}
TEST(hot_record, changes) {
  run<entry<1>, add<1>>({300, 4, 1500}, n, 1);
  run<entry<1>, add<3>>({300, 4, 4000}, n, 1);
}
TEST(hot_record, with_messages_of_each_size) {
  run<entry<1>, add<4>>({50, 4, n}, n, 1);
  run<entry<1>, add<7>>({50, 4, n}, n, 1);
  run<entry<1>, add<11>>({50, 4, n}, n, 1);
  run<entry<1>, tick>({50, 4, n}, n, 1);
}
TEST(hot_record, with_sections_of_two_types) { run<entry<1>, add<2>, tick>({50, 4, n}, n, 1); }
TEST(hot_record, that_does_not_fit_registers) { run<entry<20>, add<2>>({50, 4, n}, n, 1); }

}  // namespace
