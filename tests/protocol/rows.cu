// SPDX-License-Identifier: Apache-2.0
// Sections whose payload is a row in memory: each gets its own row, whatever lanes load it, and
// runs once, or in order.

#include "tests/protocol/rows.cuh"

#include "tests/protocol/deterministic.cuh"

#include <cstdint>
#include <vector>

namespace {

using rows_test::add;
using rows_test::add_few;
using rows_test::add_ones;
using rows_test::add_prepared;
using rows_test::add_sum;
using rows_test::add_to_copy;
using rows_test::fixture;
using rows_test::ids_of;
using rows_test::matrix;
using warden::placement;
using warden::executor::locks;
using warden::executor::sorted;
using warden::order::sequential;

template <class Policy, class Section, class... Others>
using guarded = warden::basic_guarded<Policy, typename Section::record_type, Section, Others...>;

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
TYPED_TEST(rows, are_added_in_the_order_of_a_loop) {
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

/// Checks sections that combine, whose record counts how often they were applied.
template <class Policy, unsigned Lanes>
void expect_combined(std::uint32_t keys, bool skewed) {
  using section = add_sum<float, 64, Lanes>;
  auto const ids = ids_of(test::sized(3000u, 500'000u), keys, 7, skewed);
  fixture<guarded<Policy, section>, section> f{ids, keys};
  fixture<guarded<Policy, section>, section> g{ids, keys};
  f.apply_async();
  g.send_async();
  auto const bulk = f.records.to_host(), logged = g.records.to_host();
  std::vector<rows_test::record<float, 64>> wanted(keys);
  std::vector<std::uint32_t> first(keys, ~0u);
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    add_row(wanted[ids[i]], i, ids[i]);
    if (first[ids[i]] == ~0u) first[ids[i]] = i;
  }
  for (std::uint32_t id = 0; id < keys; ++id) {
    for (unsigned c = 0; c < 64; ++c) {
      ASSERT_EQ(bulk[id].sums[c], wanted[id].sums[c]) << id;
      ASSERT_EQ(logged[id].sums[c], wanted[id].sums[c]) << id;
    }
    if (wanted[id].sections == 0) continue;
    // One section runs for all: the first.
    ASSERT_EQ(bulk[id].sections, 1u);
    ASSERT_EQ(logged[id].sections, 1u);
    ASSERT_EQ(bulk[id].mixed, first[id] + id);
    if (Policy::order::in_order) {
      ASSERT_EQ(logged[id].mixed, first[id] + id);
    }
  }
}
TEST(rows_that_combine, are_added_once_to_each_record) {
  using in_trees =
      rows_test::policy<float, sorted<>, placement::in_memory, 64, warden::order::deterministic>;
  using unordered = rows_test::policy<float, sorted<>, placement::in_memory, 64>;
  for (bool const skewed : {false, true}) {
    expect_combined<in_trees, 16>(50, skewed);
    expect_combined<in_trees, 32>(test::sized(2000u, 100'000u), skewed);
    expect_combined<unordered, 16>(50, skewed);
    expect_combined<unordered, 8>(test::sized(2000u, 100'000u), skewed);
  }
}
TEST(rows_that_combine, are_sent_by_single_threads) {
  using section = add_sum<float, 64, 16>;
  auto const ids = ids_of(test::sized(3000u, 500'000u), 50, 8, true);
  fixture<guarded<rows_test::policy<float>, section>, section> f{ids, 50};
  f.send();
  auto const found = f.records.to_host();
  std::vector<rows_test::record<float, 64>> wanted(50);
  for (std::uint32_t i = 0; i < ids.size(); ++i) add_row(wanted[ids[i]], i, ids[i]);
  for (std::uint32_t id = 0; id < 50; ++id) {
    for (unsigned c = 0; c < 64; ++c) ASSERT_EQ(found[id].sums[c], wanted[id].sums[c]) << id;
  }
}

/// Rows of 8 equal numbers that combine in no tree but one.
struct mixed_row {
  static constexpr unsigned group_size = 4;
  using part = warden::row_part<std::uint64_t, 8, 4>;
  std::uint32_t source;
  __device__ warden::row<std::uint64_t const, 8> payload(std::uint64_t const* rows) const {
    return {rows, source};
  }
  __device__ static part combine(part const& a, part const& b) {
    return {test::mix(a[0] * 3 + b[0]), test::mix(a[1] * 3 + b[1])};
  }
  struct row {
    alignas(16) std::uint64_t values[8];
  };
  __device__ void operator()(row& r, part const& own, warden::lane_group<4> const& group) const {
    warden::row<std::uint64_t, 8> const to{r.values};
    auto now = to.load(group);
    for (unsigned k = 0; k < part::size; ++k) now[k] = test::mix(now[k] + own[k]);
    to.store(group, now);
  }
};
TEST(rows_that_combine, have_the_bits_of_one_tree) {
  using in_trees = warden::policy<warden::options{}, warden::order::deterministic,
                                  warden::context<std::uint64_t const*>>;
  for (std::uint32_t const n : {1u, 9u, 265u, test::sized(9000u, 900'000u)}) {
    auto const ids = ids_of(n, 20, 9, true);
    std::vector<std::uint64_t> host(std::size_t{n} * 8);
    for (std::size_t k = 0; k < host.size(); ++k) host[k] = k / 8 + 1;
    warden::buffer<std::uint32_t> const on{ids};
    warden::buffer<std::uint64_t> const values{host};
    auto const wanted = deterministic_test::expected(ids, 20, 7);
    auto const expect = [&](auto const& call) {
      warden::buffer<mixed_row::row> records{
          std::vector<mixed_row::row>(20, mixed_row::row{{7, 7, 7, 7, 7, 7, 7, 7}})};
      warden::basic_guarded<in_trees, mixed_row::row, mixed_row> g{records, values.data()};
      call(g);
      g.wait();
      auto const found = records.to_host();
      for (std::uint32_t id = 0; id < 20; ++id) {
        for (std::uint64_t const value : found[id].values) ASSERT_EQ(value, wanted[id]) << id;
      }
    };
    expect([&](auto& g) { g.apply_async(on.data(), n, rows_test::numbered<mixed_row>{}); });
    expect([&](auto& g) {
      warden::deferred log{g, n};
      warden::send_async(log, n, rows_test::numbered_to<mixed_row>{on.data()});
      log.run();
    });
  }
}

}  // namespace
