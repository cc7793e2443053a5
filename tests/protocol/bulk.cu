// SPDX-License-Identifier: Apache-2.0
// apply_async of sections that combine on few records, which goes through no log.

#include "tests/protocol/bulk.cuh"

#include <cstdint>

namespace {

using namespace bulk;
using usual = warden::policy<>;
using small_blocks = warden::policy<warden::options{.block_threads = 32}>;

TEST(bulk, any_number_of_records_and_rows) {
  for (std::uint32_t const records : {1u, 7u, 64u, 300u, 1000u, 3000u, 6000u}) {
    for (std::uint64_t const n : {1u, 33u, 2000u}) {
      expect_as_in_a_loop<1, small_blocks>({n, records});
      expect_as_in_a_loop<4, small_blocks>({n, records, 100});
    }
  }
}
TEST(bulk, payloads_up_to_many_words) {
  for (std::uint32_t const records : {50u, 900u}) {
    expect_as_in_a_loop<2, small_blocks>({4000, records, 50});
    expect_as_in_a_loop<3, small_blocks>({4000, records, 50});
    expect_as_in_a_loop<5, small_blocks>({4000, records, 50});
  }
}
TEST(bulk, all_rows_on_one_record) {
  for (std::uint32_t const records : {1u, 200u, 4000u})
    expect_as_in_a_loop<4, small_blocks>({test::sized(5000u, 4'000'000u), records, 256});
}
TEST(bulk, large_blocks_and_several_calls) {
  for (std::uint32_t const records : {100u, 4000u})
    expect_as_in_a_loop<4, usual>({test::sized(4000u, 4'000'000u), records, 40}, 3);
}
TEST(bulk, ids_outside_are_counted) {
  for (std::uint32_t const records : {100u, 2000u})
    expect_as_in_a_loop<1, small_blocks>({5000, records, 0, 97}, 2);
}

}  // namespace
