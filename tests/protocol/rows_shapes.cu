// SPDX-License-Identifier: Apache-2.0
// Sections whose payload is a row in memory: each gets its own row, whatever lanes load it, and
// runs once, or in order.

#include "tests/protocol/rows.cuh"

#include <cstdint>

namespace {

using rows_test::add;
using rows_test::add_prepared;
using rows_test::add_to_copy;
using rows_test::fixture;
using rows_test::ids_of;
using warden::placement;
using warden::executor::sorted;
using warden::order::sequential;

template <class Policy, class Section>
using guarded = warden::basic_guarded<Policy, typename Section::record_type, Section>;

/// A section type, and the pieces that its lanes load.
template <class Section, unsigned Piece, unsigned Size>
struct shape {
  using section = Section;
  static_assert(Section::part::piece == Piece && Section::part::size == Size);
};
template <class Shape>
class rows : public testing::Test {};
using shapes = testing::Types<
    shape<add<float, 4, 4>, 1, 1>, shape<add<float, 4, 1>, 4, 4>, shape<add<float, 8, 4>, 2, 2>,
    shape<add<float, 8, 32>, 1, 1>, shape<add<float, 64, 8>, 4, 8>, shape<add<float, 64, 16>, 4, 4>,
    shape<add<float, 64, 32>, 2, 2>, shape<add<float, 100, 32>, 2, 4>,
    shape<add<float, 100, 4>, 4, 28>, shape<add<std::uint64_t, 7, 4>, 1, 2>,
    shape<add_to_copy<float, 64, 8>, 4, 8>, shape<add_prepared<float, 64, 8>, 4, 8>,
    shape<add_prepared<std::uint64_t, 7, 4>, 1, 2>, shape<add_prepared<float, 8, 32>, 1, 1>>;
TYPED_TEST_SUITE(rows, shapes);

TYPED_TEST(rows, are_added_as_by_a_loop) {
  using section = typename TypeParam::section;
  using policy = rows_test::policy<typename section::value_type>;
  std::uint32_t const n = test::sized(400u, 20'000u);
  for (std::uint32_t const keys : {1u, 40u, test::sized(300u, 20'000u)}) {
    fixture<guarded<policy, section>, section> f{ids_of(n, keys, 1), keys};
    f.send();
    f.expect_sums(false, 1);
    f.send_async();
    f.expect_sums(false, 2);
    f.apply_async();
    f.expect_sums(false, 3);
  }
}

/// The lanes and pieces of rows change how a section runs, not which one is next.
template <class Shape>
class rows_in_order : public testing::Test {};
using ordered_shapes =
    testing::Types<shape<add<float, 4, 1>, 4, 4>, shape<add<float, 64, 16>, 4, 4>,
                   shape<add<float, 100, 4>, 4, 28>, shape<add<std::uint64_t, 7, 4>, 1, 2>,
                   shape<add_to_copy<float, 64, 8>, 4, 8>, shape<add_prepared<float, 8, 32>, 1, 1>>;
TYPED_TEST_SUITE(rows_in_order, ordered_shapes);

TYPED_TEST(rows_in_order, are_added_in_the_order_of_a_loop) {
  using section = typename TypeParam::section;
  using policy = rows_test::policy<typename section::value_type, sorted<>, placement::in_memory, 32,
                                   sequential>;
  std::uint32_t const n = test::sized(400u, 20'000u);
  for (std::uint32_t const keys : {1u, 3u, test::sized(300u, 20'000u)}) {
    fixture<guarded<policy, section>, section> f{ids_of(n, keys, 2, true), keys};
    f.send_async();
    f.expect_sums(true, 1);
    f.apply_async();
    f.expect_sums(true, 2);
  }
}

}  // namespace
