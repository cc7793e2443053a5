// SPDX-License-Identifier: Apache-2.0
// Sections on two records that several lanes run: in rounds, of one array and between two; and
// under locks.

#include "tests/protocol/lanes_pairs.cuh"

namespace {

TEST(lanes_pairs, run_in_rounds) {
  std::uint32_t const n = test::sized(500u, 100'000u);
  for (std::uint32_t const keys : {1u, 4u, 60u}) {
    together::defer_pairs(n, keys, 0);
    together::defer_pairs(n, keys, 4);
  }
  // Few sections on large tiles: only their records are loaded. And tiles that do not fit the chip.
  together::defer_pairs(20, 500, 2);
  together::defer_pairs(n, 5000, 1);
}
TEST(lanes_pairs, run_between_two_arrays) {
  std::uint32_t const n = test::sized(500u, 100'000u);
  for (std::uint32_t const keys : {1u, 50u}) {
    together::defer_between(n, keys, 7, 0);
    together::defer_between(n, keys, 90, 4);
  }
  together::defer_between(20, 500, 300, 2);
  together::defer_between(n, 3000, 3000, 1);
}
TEST(lanes_pairs, run_under_the_locks_of_one_owner) {
  std::uint32_t const n = test::sized(400u, 20'000u);
  for (std::uint32_t const keys : {1u, 40u}) together::send_pairs_to_one<test::locks>(n, keys);
}

}  // namespace
