// SPDX-License-Identifier: Apache-2.0
// Sections of several lanes in fused launches: sent and called, by every executor that has them.

#include "tests/protocol/lanes_fused.cuh"
#include "tests/protocol/lanes_noops.cuh"

namespace {

template <class Policy>
using on_chip = warden::with_values<Policy, &warden::options::records, warden::placement::on_chip>;

template <class Policy>
class lanes_fused : public testing::Test {};
using all = testing::Types<test::sorted, on_chip<test::locks>, test::paper>;
TYPED_TEST_SUITE(lanes_fused, all);

TYPED_TEST(lanes_fused, run_and_answer) {
  std::uint32_t const n = test::sized(400u, 20'000u);
  for (std::uint32_t const keys : {1u, 40u}) together::send_and_call_all<TypeParam>(n, keys, 2, 3);
}
TYPED_TEST(lanes_fused, are_asked_unless_they_were_called) {
  std::uint32_t const n = test::sized(400u, 20'000u);
  for (std::uint32_t const keys : {1u, 40u}) together::call_asked<TypeParam>(n, keys, 3);
}

}  // namespace
