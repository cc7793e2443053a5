// SPDX-License-Identifier: Apache-2.0
// Sections on two records of any two owners: each excludes on both.

#include "sweep.cuh"

namespace {

using namespace pairs;

template <class Policy>
using accounts = warden::basic_guarded<Policy, account, move, deposit>;

template <class Policy>
class nested : public testing::Test {};
/// With 64 locks, records of one owner share theirs.
using policies = testing::Types<nested_policy<2048, warden::placement::in_memory>,
                                nested_policy<2048, warden::placement::on_chip>,
                                nested_policy<64, warden::placement::in_memory>>;
TYPED_TEST_SUITE(nested, policies);

TYPED_TEST(nested, of_any_owners) {
  for (unsigned const servers : {2u, 3u, 4u})
    check<accounts<TypeParam>>(moves(), 400, 400, by::block, {.servers = servers, .chunk = 1});
}
TYPED_TEST(nested, of_one_server) {
  check<accounts<TypeParam>>(moves(), 300, 300, by::block, {.servers = 1});
}
TYPED_TEST(nested, of_few_accounts) {
  std::uint32_t const n = test::sized(moves() / 4, 30'000u);
  for (std::uint32_t const records : {1u, 2u, 5u, 8u}) {
    check<accounts<TypeParam>>(n, records, records, by::block, {.servers = 3, .chunk = 1});
    check<accounts<TypeParam>>(n, records, records, by::thread, {.servers = 2, .chunk = 2});
  }
}
TYPED_TEST(nested, by_every_client) {
  for (by const how : {by::thread, by::warp, by::call})
    check<accounts<TypeParam>>(moves(), 103, 103, how, {.servers = 3});
}
TYPED_TEST(nested, many_more_under_way_than_a_ring_holds) {
  check<accounts<TypeParam>>(moves(), 60, 60, by::block,
                             {.servers = 4, .capacity = 32, .forward_capacity = 32});
  check<accounts<TypeParam>>(moves() / 4, 4, 4, by::block,
                             {.servers = 4, .capacity = 32, .chunk = 1, .forward_capacity = 32});
}

TEST(nested_sections, conserve_what_they_move) {
  using policy = nested_policy<64, warden::placement::in_memory>;
  sweep_once<policy>(moves(), 50, {.servers = 3});
  sweep_once<policy>(moves(), 2, {.servers = 2, .chunk = 1});
}

}  // namespace
