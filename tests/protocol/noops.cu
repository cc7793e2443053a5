// SPDX-License-Identifier: Apache-2.0
// Sections that one thread runs, and that say when they are no-ops: none is lost.

#include "tests/protocol/noops.cuh"

namespace {

using noops::combined;
using noops::policy;
using noops::put;
using noops::put_all;
using warden::placement;
using sorted = policy<warden::executor::sorted<>>;
using on_chip = policy<warden::executor::sorted<>, placement::on_chip>;
using locks = policy<warden::executor::locks<64>>;
using locks_on_chip = policy<warden::executor::locks<64>, placement::on_chip>;

std::vector<std::uint32_t> all_keys() { return {1, 40, test::sized(300u, 1000u)}; }
std::uint32_t operations() { return test::sized(700u, 300'000u); }

TEST(noops, are_left_out_of_runs) {
  for (std::uint32_t const keys : all_keys()) {
    noops::defer<sorted>(operations(), keys);
    noops::defer<sorted, 16>(operations(), keys);
    noops::defer<on_chip>(operations(), keys);
    noops::defer<locks>(operations(), keys);
    noops::defer<locks_on_chip, 16>(operations(), keys);
  }
}
TEST(noops, are_run_in_order) {
  for (std::uint32_t const keys : all_keys())
    noops::apply<noops::in_order<sorted>, put>(operations(), keys);
}
TEST(noops, may_combine) {
  for (std::uint32_t const keys : all_keys()) {
    noops::apply<sorted, put_all>(operations(), keys);
    noops::fuse<combined<on_chip>, put_all>(operations(), keys);
  }
}
TEST(noops, are_left_out_of_windows) {
  for (std::uint32_t const keys : all_keys()) {
    noops::fuse<sorted, put>(operations(), keys);
    noops::fuse<on_chip, put, 16>(operations(), keys);
    noops::fuse<locks, put>(operations(), keys);
  }
}
TEST(noops, send_nothing) {
  for (std::uint32_t const keys : all_keys()) noops::chain<sorted>(operations(), keys);
}

}  // namespace
