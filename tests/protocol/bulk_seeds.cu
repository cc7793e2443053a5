// SPDX-License-Identifier: Apache-2.0
// Bulk runs of sections that combine, under many schedules.

#include "tests/protocol/bulk.cuh"
#include "tests/protocol/word_sums.cuh"
#include "tests/support/many_schedules.cuh"

#include <cstdint>

namespace {

using namespace bulk;
using small_blocks = warden::policy<warden::options{.block_threads = 32}>;

TEST(bulk_seeds, tables_of_threads_and_warps_are_as_in_a_loop) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    auto const mixed = static_cast<std::uint32_t>(test::mix(seed));
    std::uint32_t const n = 1 + mixed % 700, hot = mixed >> 10 & 255u;
    expect_as_in_a_loop<1, small_blocks>({n, 1 + (mixed >> 20) % 130, hot}, 2);
  });
}
/// Few of the records are named, so that warps meet at their locks.
TEST(bulk_seeds, tables_of_blocks_are_as_in_a_loop) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    test::let_blocks_have(16 << 10);
    auto const mixed = static_cast<std::uint32_t>(test::mix(seed));
    std::uint32_t const n = 1 + mixed % 700, hot = mixed >> 10 & 255u;
    expect_as_in_a_loop<1, small_blocks>({n, 800, hot, 0, 1 + (mixed >> 20) % 40});
  });
}

TEST(bulk_seeds, tables_of_words_are_as_in_a_loop) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    auto const mixed = static_cast<std::uint32_t>(test::mix(seed));
    std::uint32_t const records = 1 + (mixed >> 20) % 130;
    word_sums::expect_as_in_a_loop<small_blocks>(
        word_sums::some_ids(1 + mixed % 700, records, mixed >> 10 & 255u), records);
  });
}

TEST(bulk_seeds, records_in_parts_are_as_in_a_loop) {
  test::under_many_schedules(20, [](std::uint64_t seed) {
    if (seed % 8 != 0) return;  // the kernels that sort and plan have large blocks
    auto const mixed = static_cast<std::uint32_t>(test::mix(seed));
    std::uint32_t const n = 1 + mixed % 20'000, hot = mixed >> 15 & 255u;
    expect_as_in_a_loop<4, small_blocks>({n, 5000 + (mixed >> 23) * 50, hot, 0, 9000});
  });
}

}  // namespace
