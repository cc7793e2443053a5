// SPDX-License-Identifier: Apache-2.0
// Sections whose payload is a row in memory, and whose rows combine.

#include "tests/protocol/rows.cuh"

#include "tests/protocol/deterministic.cuh"

#include <cstdint>
#include <vector>

namespace {

using rows_test::add_sum;
using rows_test::fixture;
using rows_test::ids_of;
using warden::placement;
using warden::executor::sorted;

template <class Policy, class Section>
using guarded = warden::basic_guarded<Policy, typename Section::record_type, Section>;

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
