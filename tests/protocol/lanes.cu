// SPDX-License-Identifier: Apache-2.0
// Sections that several lanes of a warp run together: exactly once, and one group at a time.

#include "tests/protocol/lanes_noops.cuh"

namespace {

using together::add;
using together::add_alone;
using together::deferring;
using warden::placement;

template <class Policy>
class lanes : public testing::Test {};
using all = testing::Types<deferring<warden::executor::sorted<>, placement::in_memory>,
                           deferring<warden::executor::sorted<>, placement::on_chip>,
                           deferring<warden::executor::locks<64>, placement::in_memory>,
                           deferring<warden::executor::locks<64>, placement::on_chip>>;
TYPED_TEST_SUITE(lanes, all);

/// Sections of different widths on one record.
TYPED_TEST(lanes, run_deferred_sections_together) {
  std::uint32_t const n = test::sized(700u, 300'000u);
  for (std::uint32_t const keys : {1u, 40u, test::sized(300u, 20'000u)})
    together::defer<TypeParam, add<32>, add_alone, add<4>>(n, keys, 2);
}
/// No-op sections are not run.
TYPED_TEST(lanes, are_asked_whether_they_would_change_anything) {
  std::uint32_t const n = test::sized(700u, 300'000u);
  for (std::uint32_t const keys : {1u, 40u, test::sized(300u, 20'000u)})
    together::defer_asked<TypeParam, 32, 4>(n, keys);
}

using in_order =
    warden::with_parts<deferring<warden::executor::sorted<>>, warden::order::sequential>;
TEST(lanes_in_order, are_asked_whether_they_would_change_anything) {
  for (std::uint32_t const keys : {1u, 3u, 500u})
    together::replace_in_order<in_order>(test::sized(700u, 300'000u), keys, 7);
}

}  // namespace
