// SPDX-License-Identifier: Apache-2.0
// Sections whose payload is a row in memory, by policies and ways to run: each gets its own row,
// and runs once, or in order.

#include "tests/protocol/rows.cuh"

#include <cstdint>

namespace {

using rows_test::add;
using rows_test::add_few;
using rows_test::add_ones;
using rows_test::add_prepared;
using rows_test::fixture;
using rows_test::ids_of;
using rows_test::matrix;
using warden::placement;
using warden::executor::locks;
using warden::executor::sorted;
using warden::order::sequential;

template <class Policy, class Section, class... Others>
using guarded = warden::basic_guarded<Policy, typename Section::record_type, Section, Others...>;

TEST(rows_of_one_warp, run_on_a_hot_record) {
  using section = add<float, 4, 1>;
  // Windows of 256 sections and more.
  fixture<guarded<rows_test::policy<float>, section>, section> f{ids_of(4000, 1, 1), 1};
  f.send_async();
  f.expect_sums(false);
}

using wide = add<float, 64, 16>;
template <class Policy>
class row_policies : public testing::Test {};
using policies = testing::Types<rows_test::policy<float, sorted<>, placement::on_chip>,
                                rows_test::policy<float, locks<64>>,
                                rows_test::policy<float, locks<64>, placement::on_chip>,
                                rows_test::policy<float, sorted<>, placement::in_memory, 128>>;
TYPED_TEST_SUITE(row_policies, policies);

template <class Policy, class Section>
void expect_rows() {
  std::uint32_t const n = test::sized(400u, 20'000u);
  for (std::uint32_t const keys : {1u, 40u, test::sized(300u, 20'000u)}) {
    fixture<guarded<Policy, Section>, Section> f{ids_of(n, keys, 3, true), keys};
    f.send();
    f.expect_sums(false);
    f.apply_async();
    f.expect_sums(false, 2);
  }
}
TYPED_TEST(row_policies, give_each_section_its_row) { expect_rows<TypeParam, wide>(); }
TYPED_TEST(row_policies, run_sections_on_copies) {
  expect_rows<TypeParam, add_prepared<float, 64, 16>>();
}

TEST(rows_in_a_launch, are_loaded_by_servers) {
  fixture<guarded<rows_test::policy<float>, wide>, wide> f{ids_of(200, 10, 4), 10};
  f.launch_fused();
  f.expect_sums(false);
  using prepared = add_prepared<float, 64, 8>;
  fixture<guarded<rows_test::policy<float>, prepared>, prepared> g{ids_of(200, 10, 4, true), 10};
  g.launch_fused();
  g.expect_sums(false);
}

/// Answers how many sections its record has had.
struct add_and_tell : wide {
  __device__ std::uint32_t operator()(record_type& r, part const& own, matrix<float> const& m,
                                      warden::record_id id,
                                      warden::lane_group<16> const& group) const {
    wide::operator()(r, own, m, id, group);
    return group.lane() == 0 ? r.sections : 0;  // the answer is that of lane 0
  }
};
/// The same, on a copy of the record.
struct add_to_copy_and_tell : add_prepared<float, 64, 16> {
  __device__ std::uint32_t operator()(copy& c, part const& own, float sum, matrix<float> const& m,
                                      warden::record_id id,
                                      warden::lane_group<16> const& lanes) const {
    run(c, own, sum, m, id, lanes);
    return c.sections;
  }
};
template <class Section>
struct call_in_launch {
  std::uint32_t const* ids;
  std::uint32_t n;
  std::uint32_t* answers;  ///< [record] sum
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      std::uint32_t const id = i < n ? ids[i] : 0;
      auto future = client.call(id, rows_test::numbered<Section>{}(i), i < n);
      client.flush();
      if (auto const answer = future.get()) rows_test::simt::fetch_add(&answers[id], *answer);
    });
  }
};
template <class Section>
void expect_answers() {
  fixture<guarded<rows_test::policy<float>, Section>, Section> f{ids_of(200, 10, 4), 10};
  warden::buffer<std::uint32_t> answers{10};
  answers.fill_bytes(0);
  warden::launch_fused(call_in_launch<Section>{f.ids.data(), f.n(), answers.data()}, 2, 32, {},
                       f.guarded);
  f.guarded.wait();
  f.expect_sums(false);
  auto const sums = answers.to_host();
  auto const records = f.records.to_host();
  for (std::uint32_t id = 0; id < 10; ++id)
    EXPECT_EQ(sums[id], records[id].sections * (records[id].sections + 1) / 2);
}
TEST(rows_in_a_launch, belong_to_sections_that_are_called) {
  expect_answers<add_and_tell>();
  expect_answers<add_to_copy_and_tell>();
}

struct make_ones {
  __device__ add_ones<float, 64> operator()(std::uint64_t) const { return {}; }
};
TEST(rows_of_several_types, share_a_guarded_array) {
  using narrow = add_prepared<float, 64, 8>;
  using ones = add_ones<float, 64>;
  using types = guarded<rows_test::policy<float>, wide, narrow, ones>;
  auto const ids = ids_of(test::sized(600u, 100'000u), 30, 5);
  fixture<types, wide> f{ids, 30};
  f.send();
  fixture<types, narrow> g{ids, 30};
  g.send();
  f.expect_sums(false);
  g.expect_sums(false);
  f.guarded.apply_async(f.ids.data(), f.n(), make_ones{});
  f.guarded.wait();
  auto const with = f.records.to_host(), without = g.records.to_host();
  for (std::uint32_t id = 0; id < 30; ++id)
    EXPECT_EQ(with[id].sums[63], without[id].sums[63] + without[id].sections);
}

TEST(rows_of_noop_sections, are_not_needed) {
  using few = add_few<float, 64, 16>;
  auto const ids = ids_of(test::sized(600u, 100'000u), 20, 6, true);
  fixture<guarded<rows_test::policy<float>, few>, few> f{ids, 20};
  f.send_async();
  f.expect_sums(false, 1, few::most);
  using in_order = rows_test::policy<float, sorted<>, placement::in_memory, 32, sequential>;
  fixture<guarded<in_order, few>, few> g{ids, 20};
  g.send_async();
  g.expect_sums(true, 1, few::most);
}

}  // namespace
