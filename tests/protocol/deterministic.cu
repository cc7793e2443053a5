// SPDX-License-Identifier: Apache-2.0
// order::deterministic: sections are combined in a tree that depends on their number alone.

#include "tests/protocol/deterministic.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace deterministic_test;
using test::error_text;
using test::refusal;
using testing::HasSubstr;

TEST(deterministic, all_sections_on_one_record) {
  // The tree has one more level from 2, 9, 33, 257 and 8,193 sections on.
  for (std::uint32_t const n : {1u, 2u, 7u, 8u, 9u, 25u, 32u, 33u, 65u, 255u, 256u, 257u, 1025u,
                                5120u, 5121u, 8192u, 8193u, test::sized(33000u, 3000000u)}) {
    std::vector<std::uint32_t> const ids(n, 2);
    EXPECT_EQ(found(ids, 3), expected(ids, 3, initial)) << n << " sections";
  }
}
TEST(deterministic, a_call_without_sections_leaves_the_records) {
  EXPECT_EQ(found({}, 3), std::vector<std::uint64_t>(3, initial));
}
TEST(deterministic, records_next_to_each_other) {
  // Runs of every length begin at every place of a chunk.
  for (std::uint32_t const length : {1u, 7u, 9u, 31u, 32u, 33u, 34u, 65u, 100u, 300u, 1025u}) {
    std::vector<std::uint32_t> ids(2500);
    for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = i / length;
    std::uint32_t const records = ids.back() + 2;
    EXPECT_EQ(found(ids, records), expected(ids, records, initial)) << "runs of " << length;
  }
}
TEST(deterministic, records_of_random_lengths) {
  std::uint32_t const n = test::sized(12000u, 2000000u);
  for (double const skew : {0.0, 4.0, 40.0}) {
    for (std::uint32_t const records : {1u, 300u, n / 4, test::sized(n, 4 * n)}) {
      auto const ids = random_ids(n, records, skew);
      EXPECT_EQ(found(ids, records), expected(ids, records, initial))
          << records << " records, skew " << skew;
    }
  }
}
TEST(deterministic, more_records_than_two_digits_distinguish) {
  constexpr std::uint32_t records = (1u << 20) + 1;
  for (double const skew : {0.0, 40.0}) {
    auto ids = random_ids(3000, records, skew);
    ids.back() = records - 1;
    EXPECT_EQ(found(ids, records), expected(ids, records, initial)) << "skew " << skew;
  }
}
TEST(deterministic, as_many_records_as_two_digits_distinguish) {
  // The simulated device takes long for many buckets.
  std::uint32_t const records = test::sized(1u << 14, 1u << 20);
  auto ids = random_ids(3000, records, 3);
  ids.back() = records - 1;
  EXPECT_EQ(found(ids, records), expected(ids, records, initial));
}
TEST(deterministic, ids_outside_the_records_are_reported_and_have_no_place_in_a_tree) {
  auto ids = random_ids(3000, 10, 2);
  for (std::size_t i = 0; i < ids.size(); i += 5) ids[i] = i % 2 == 0 ? 10 : ~0u;
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(10, initial)};
  guarded g{values};
  g.apply_async(on.data(), ids.size(), numbered{});
  EXPECT_THAT(error_text(g), HasSubstr("600 "));
  EXPECT_EQ(values.to_host(), expected(ids, 10, initial));
}

/// Section i if i is no multiple of 3.
struct some {
  __device__ warden::nothing_or<mixed> operator()(std::uint64_t i) const {
    if (i % 3 == 0) return {};
    return numbered{}(i);
  }
};
struct some_with_records {
  std::uint32_t const* ids;
  __device__ warden::nothing_or<warden::to<mixed>> operator()(std::uint64_t i) const {
    if (i % 3 == 0) return {};
    return warden::to{ids[i], numbered{}(i)};
  }
};
TEST(deterministic, numbers_without_section_have_no_place_in_a_tree) {
  auto const ids = random_ids(3000, 10, 2);
  auto sent = ids;
  for (std::size_t i = 0; i < ids.size(); i += 3) sent[i] = ~0u;
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(10, initial)};
  guarded g{values};
  g.apply_async(on.data(), ids.size(), some{});
  g.wait();
  EXPECT_EQ(values.to_host(), expected(sent, 10, initial));
  warden::buffer<std::uint64_t> again{std::vector<std::uint64_t>(10, initial)};
  guarded h{again};
  h.apply_async(ids.size(), some_with_records{on.data()});
  h.wait();
  EXPECT_EQ(again.to_host(), expected(sent, 10, initial));
}
TEST(deterministic, an_array_of_sections_and_calls_that_follow_each_other) {
  auto const ids = random_ids(9000, 50, 4);
  std::vector<mixed> sections;
  for (std::uint32_t i = 0; i < ids.size(); ++i) sections.push_back({i + 1});
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<mixed> const all{sections};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(50, initial)};
  guarded g{values};
  g.apply_async(on.data(), all.data(), 100);
  // More sections than there is room for.
  std::vector<std::uint64_t> const start(50, initial);
  warden::copy(values.data(), start.data(), start.size());
  g.apply_async(on.data(), all.data(), ids.size());
  g.wait();
  EXPECT_EQ(values.to_host(), expected(ids, 50, initial));
  EXPECT_GT(g.memory_bytes(), 16 * ids.size());
}

struct counted_number {
  __device__ counted operator()(std::uint64_t i) const { return {{i}}; }
};
TEST(deterministic, partials_of_another_type_with_context_and_id) {
  using policy = warden::policy<warden::options{}, warden::order::deterministic,
                                warden::context<std::uint64_t>>;
  auto const ids = random_ids(3000, 5, 0);
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(5, 0)};
  warden::basic_guarded<policy, std::uint64_t, counted> g{values, std::uint64_t{3}};
  g.apply_async(on.data(), ids.size(), counted_number{});
  g.wait();
  std::vector<std::uint64_t> sums(5);
  for (std::uint64_t i = 0; i < ids.size(); ++i) sums[ids[i]] += 3 * i + (std::uint64_t{1} << 40);
  for (std::uint64_t r = 0; r < 5; ++r) sums[r] += r << 50;
  EXPECT_EQ(values.to_host(), sums);
}

/// Rows of 8 numbers; a lane has 2 of them.
struct row {
  std::uint64_t values[8];
};
struct part {
  static constexpr unsigned group_size = 4;
  std::uint64_t values[2];
  __device__ static part combine(part const& a, part const& b) {
    return {test::mix(a.values[0] * 3 + b.values[0]), test::mix(a.values[1] * 3 + b.values[1])};
  }
  __device__ void operator()(row& r, warden::lane_group<4> const& group) const {
    for (unsigned k = 0; k < 2; ++k) {
      std::uint64_t& value = r.values[2 * group.lane() + k];
      value = test::mix(value + values[k]);
    }
  }
};
/// All 8 numbers of row i are equal.
struct part_of_row {
  __device__ part operator()(std::uint64_t i, warden::lane_group<4> const& group) const {
    return {i + 1 + (group.lane() == 3 ? 100 : 0), i + 1};
  }
};
TEST(deterministic, each_lane_of_a_group_combines_its_part_of_a_row) {
  for (double const skew : {0.0, 20.0}) {
    auto const ids = random_ids(5000, 20, skew);
    warden::buffer<std::uint32_t> const on{ids};
    warden::buffer<row> rows{std::vector<row>(20, row{{7, 7, 7, 7, 7, 7, 7, 7}})};
    warden::basic_guarded<in_trees, row, part> g{rows};
    g.apply_async(on.data(), ids.size(), part_of_row{});
    g.wait();
    auto const results = rows.to_host();
    auto const sums = expected(ids, 20, initial);
    for (std::uint32_t r = 0; r < 20; ++r) {
      for (unsigned k : {0u, 1u, 3u, 5u, 7u}) EXPECT_EQ(results[r].values[k], sums[r]) << r;
      EXPECT_EQ(results[r].values[6] == sums[r], std::count(ids.begin(), ids.end(), r) == 0);
    }
  }
}
/// Section i, for the record that an array names.
struct numbered_to {
  std::uint32_t const* ids;
  __device__ warden::to<mixed> operator()(std::uint64_t i) const {
    return warden::to{ids[i], numbered{}(i)};
  }
};
TEST(deterministic, a_log_gives_the_bits_of_apply_async) {
  for (double const skew : {0.0, 30.0}) {
    for (std::uint32_t const n : {1u, 31u, 3000u, test::sized(9000u, 900000u)}) {
      auto const ids = random_ids(n, 300, skew);
      warden::buffer<std::uint32_t> const on{ids};
      warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(300, initial)};
      guarded g{values};
      // Room for more than are sent.
      warden::deferred log{g, n + n / 3};
      warden::send_async(log, n, numbered_to{on.data()});
      log.run();
      g.wait();
      EXPECT_EQ(values.to_host(), expected(ids, 300, initial)) << n << " sections, skew " << skew;
      EXPECT_EQ(log.explain().sections, n);
      // The log is empty again.
      log.run();
      g.wait();
      EXPECT_EQ(values.to_host(), expected(ids, 300, initial));
    }
  }
}
template <class Section>
void expect_sized_sections(std::uint32_t records, double skew) {
  using numbered = typename Section::numbered;
  std::uint32_t const n = test::sized(9600u, 900000u);
  auto ids = random_ids(n, records, skew);
  ids.back() = records - 1;
  warden::buffer<std::uint32_t> const on{ids};
  auto some = ids;
  for (std::size_t i = 0; i < some.size(); i += 7) some[i] = ~0u;
  auto const results = [&](auto const& call) {
    warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(records, initial)};
    warden::basic_guarded<in_trees, std::uint64_t, Section> g{values};
    call(g);
    g.wait();
    return values.to_host();
  };
  EXPECT_EQ(results([&](auto& g) { g.apply_async(on.data(), n, numbered{}); }),
            expected<numbered>(ids, records, initial));
  auto const wanted = expected<numbered>(some, records, initial);
  EXPECT_EQ(results([&](auto& g) { g.apply_async(n, sized_numbered_to<Section>{on.data()}); }),
            wanted);
  EXPECT_EQ(results([&](auto& g) { run_sized<Section>(g, on.data(), n); }), wanted);
}
TEST(deterministic, sections_in_the_place_of_their_numbers) {
  expect_sized_sections<small_mixed<std::uint32_t>>(300, 0);
  expect_sized_sections<small_mixed<std::uint32_t>>(300, 30);
  expect_sized_sections<small_mixed<std::uint32_t>>((1u << 20) + 1, 30);
  expect_sized_sections<small_mixed<std::uint8_t>>(300, 30);
}
TEST(deterministic, sections_that_a_log_stores_apart_from_their_records) {
  static_assert(warden::detail::stores_apart<in_trees, std::uint64_t, long_mixed<4>> &&
                warden::detail::stores_apart<in_trees, std::uint64_t, long_mixed<8>> &&
                !warden::detail::stores_apart<in_trees, std::uint64_t, long_mixed<6>>);
  expect_sized_sections<long_mixed<4>>(300, 0);
  expect_sized_sections<long_mixed<8>>((1u << 20) + 1, 30);
  // Several shards.
  auto const usual = warden::current_tuning(warden::runtime::current_device());
  auto several = usual;
  several.sections_per_shard = 1u << 12;
  warden::set_tuning(several);
  expect_sized_sections<long_mixed<8>>(300, 30);
  warden::set_tuning(usual);
}
WARDEN_KERNEL void send_range(guarded::deferred_ref out, std::uint32_t const* ids,
                              std::uint32_t first, std::uint32_t n) {
  using block = guarded::deferred_block<64>;
  WARDEN_SHARED(block::storage, storage);
  block client{out, storage};
  client.for_each(n, [&](std::uint64_t i) { return numbered_to{ids}(first + i); });
}
TEST(deterministic, a_log_has_the_order_of_its_launches) {
  auto const ids = random_ids(4000, 10, 4);
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(10, initial)};
  guarded g{values};
  warden::deferred log{g, ids.size()};
  auto const first = log.ref(), second = log.ref();
  warden::launch(&send_range, 3, 64, {}, second, on.data(), 1500u, 2500u);
  warden::launch(&send_range, 5, 64, {}, first, on.data(), 0u, 1500u);
  log.run();
  g.wait();
  EXPECT_EQ(values.to_host(), expected(ids, 10, initial));
}

TEST(deterministic, a_captured_call_needs_reserved_memory) {
  auto const ids = random_ids(5000, 20, 8);
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(20, initial)};
  guarded g{values};
  warden::stream s;
  auto const capture = [&] {
    return warden::graph::capture(s, [&] { g.apply_async(on.data(), ids.size(), numbered{}, s); });
  };
  EXPECT_THAT(refusal(capture), HasSubstr("call reserve(5000) before"));
  g.reserve(ids.size());
  auto const graph = capture();
  graph.launch(s);
  g.wait(s);
  EXPECT_EQ(values.to_host(), expected(ids, 20, initial));
}

}  // namespace
