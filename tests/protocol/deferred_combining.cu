// SPDX-License-Identifier: Apache-2.0
// Deferred sections that combine: every operation has its effect once, hot records get few
// sections, and where nothing repeats nothing is combined.

#include "tests/protocol/deferred_combining.cuh"

#include <cstdint>

namespace {

using combined::expect_each_once;

/// Of n operations, those that are sent.
std::uint64_t sent(std::uint32_t n) { return n - (n + 4) / 7; }

TEST(deferred_combining, one_record_gets_a_section_for_each_batch) {
  std::uint32_t const n = test::sized(8000u, 4'000'000u);
  std::uint64_t const batch = 64 * combined::totals::deferred_block<64>::rounds;
  // A batch may be left with a few for the rounds at its end.
  EXPECT_LE(expect_each_once<64>(n, 1, 0, 3), 2 * (n / batch + 3));
  for (std::uint32_t const few : {1u, 3u, 31u, 64u, 65u}) expect_each_once<64>(few, 1, 0, 1);
}

TEST(deferred_combining, hot_records_get_few_sections_and_the_others_all) {
  std::uint32_t const n = test::sized(8000u, 4'000'000u);
  for (std::uint32_t const keys : {2u, 40u, 5000u}) {
    for (std::uint32_t const hot : {60u, 128u, 250u}) {
      std::uint64_t const runs = expect_each_once<64>(n, keys, hot, 3);
      // Half of the hot ones, at least, are saved.
      EXPECT_LT(runs, sent(n) - sent(n) * hot / 256 / 2) << keys << " records, hot " << hot;
    }
  }
}

TEST(deferred_combining, of_records_that_do_not_repeat_is_not_tried) {
  std::uint32_t const n = test::sized(4000u, 1'000'000u);
  EXPECT_EQ(expect_each_once<64>(n, n, 0, 3), sent(n));
  EXPECT_EQ(expect_each_once<512>(n, n, 0, 3), sent(n));
}

}  // namespace
