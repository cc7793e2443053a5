// SPDX-License-Identifier: Apache-2.0
// Sections on two records that several lanes run: in rounds, of one array and between two, in
// memory and on chip; and under locks.

#include "tests/protocol/lanes_pairs.cuh"

namespace {

using warden::placement;

TEST(lanes_pairs, run_in_rounds) {
  std::uint32_t const n = test::sized(500u, 100'000u);
  for (std::uint32_t const keys : {1u, 4u, 60u}) {
    together::defer_pairs<placement::in_memory>(n, keys, 0);
    together::defer_pairs<placement::on_chip>(n, keys, 4);
  }
  // Few sections on large parts: only their records are loaded.
  together::defer_pairs<placement::on_chip>(20, 500, 2);
}
TEST(lanes_pairs, run_between_two_arrays) {
  std::uint32_t const n = test::sized(500u, 100'000u);
  for (std::uint32_t const keys : {1u, 50u}) {
    together::defer_between<placement::in_memory>(n, keys, 7, 0);
    together::defer_between<placement::on_chip>(n, keys, 90, 4);
  }
  together::defer_between<placement::on_chip>(20, 500, 300, 2);
}
TEST(lanes_pairs, run_under_the_locks_of_one_owner) {
  std::uint32_t const n = test::sized(400u, 20'000u);
  for (std::uint32_t const keys : {1u, 40u}) together::send_pairs_to_one<test::locks>(n, keys);
}

}  // namespace
