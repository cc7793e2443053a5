// SPDX-License-Identifier: Apache-2.0
// order::deterministic, if the ids ascend: sections run where they are, with the bits of any order.

#include "tests/protocol/deterministic.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace deterministic_test;
using test::error_text;
using testing::HasSubstr;

/// Returns the least number of sections of a run that looks at the order of its ids.
std::uint32_t least_ordered() {
  auto const device = warden::runtime::facts(warden::runtime::current_device());
  return static_cast<std::uint32_t>(device.multiprocessors) * 4 * warden::detail::tile_sections;
}
/// More records than two digits distinguish. A library sorts their sections.
constexpr std::uint32_t many_records = (1u << 20) + 1;
/// Returns n ascending ids from `first` on: `length` of a record, then as many of the next but one.
std::vector<std::uint32_t> ascending_ids(std::uint32_t n, std::uint32_t length,
                                         std::uint32_t first = 0) {
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t i = 0; i < n; ++i) ids[i] = first + i / length * 2;
  return ids;
}
/// Returns the records after sections on these ids, which are `first` or higher.
std::vector<std::uint64_t> expected_from(std::uint32_t first, std::vector<std::uint32_t> ids,
                                         std::uint32_t records) {
  for (std::uint32_t& id : ids) id -= first;
  auto const last = expected(ids, records - first, initial);
  std::vector<std::uint64_t> all(first, initial);
  all.insert(all.end(), last.begin(), last.end());
  return all;
}
TEST(ascending_ids, sections_of_records_of_any_length) {
  std::uint32_t const n = least_ordered() + 77;
  for (std::uint32_t const length : {33u, n}) {
    auto const ids = ascending_ids(n, length);
    std::uint32_t const records = ids.back() + 1;
    EXPECT_EQ(found(ids, records), expected(ids, records, initial)) << "runs of " << length;
  }
  // Records of random lengths, with a hot one.
  auto ids = random_ids(n, 3000, 6);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(found(ids, 3000), expected(ids, 3000, initial));
}
/// Section i is an element of an array.
template <class Section>
struct element {
  Section const* sections;
  __device__ Section operator()(std::uint64_t i) const { return sections[i]; }
};
template <class Section>
std::vector<std::uint64_t> found_of(std::vector<std::uint32_t> const& ids,
                                    std::vector<Section> const& sections, std::uint32_t records) {
  // Not aligned for the loads of several ids.
  std::vector<std::uint32_t> after_one{0};
  after_one.insert(after_one.end(), ids.begin(), ids.end());
  warden::buffer<std::uint32_t> const on{after_one};
  warden::buffer<Section> const all{sections};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(records, initial)};
  warden::basic_guarded<in_trees, std::uint64_t, Section> g{values};
  // A library's sort is skipped from the second run on.
  for (int run = 0; run < 2; ++run)
    g.apply_async(on.data() + 1, ids.size(), element<Section>{all.data()});
  g.wait();
  return values.to_host();
}
template <class Section>
void expect_the_bits_of_any_order(std::uint32_t first) {
  std::uint32_t const n = least_ordered(), records = first + 1000;
  auto mixed_ids = random_ids(n, records - first, 8);
  for (std::uint32_t& id : mixed_ids) id += first;
  std::vector<Section> sections;
  for (std::uint32_t i = 0; i < n; ++i)
    sections.push_back({static_cast<decltype(Section::value)>(test::mix(i))});
  // Sorting keeps the order of a record's sections.
  std::vector<std::uint32_t> order(n), ids;
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return mixed_ids[a] < mixed_ids[b]; });
  std::vector<Section> sorted;
  for (std::uint32_t const i : order) {
    ids.push_back(mixed_ids[i]);
    sorted.push_back(sections[i]);
  }
  EXPECT_EQ(found_of(ids, sorted, records), found_of(mixed_ids, sections, records));
}
TEST(ascending_ids, have_the_bits_of_any_order) {
  for (std::uint32_t const first : {0u, many_records})
    expect_the_bits_of_any_order<small_mixed<std::uint32_t>>(first);
}
void expect_the_bits_except_for_one(std::uint32_t first) {
  std::uint32_t const n = least_ordered();
  constexpr std::uint32_t length = 50;
  auto const ascending = ascending_ids(n, length, first);
  std::uint32_t const records = ascending.back() + 1;
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(records, initial)};
  guarded g{values};
  // Runs of one guarded array look again each time.
  for (std::uint32_t const lower : {n, n - 1, n, length + 1, n}) {
    auto ids = ascending;
    if (lower < n) --ids[lower];
    warden::buffer<std::uint32_t> const on{ids};
    std::vector<std::uint64_t> const start(records, initial);
    warden::copy(values.data(), start.data(), start.size());
    g.apply_async(on.data(), n, numbered{});
    g.wait();
    EXPECT_EQ(values.to_host(), expected_from(first, ids, records)) << "lower at " << lower;
  }
  // Ascending ids, of which the last ones name no record.
  warden::buffer<std::uint32_t> const on{ascending};
  warden::buffer<std::uint64_t> fewer{std::vector<std::uint64_t>(records - 1, initial)};
  guarded h{fewer};
  h.apply_async(on.data(), n, numbered{});
  EXPECT_THAT(error_text(h), HasSubstr(std::to_string((n - 1) % length + 1) + " "));
  EXPECT_EQ(fewer.to_host(), expected_from(first, ascending, records - 1));
}
TEST(ascending_ids, except_for_one) {
  for (std::uint32_t const first : {0u, many_records}) expect_the_bits_except_for_one(first);
}
TEST(ascending_ids, a_graph_captures_any_order) {
  std::uint32_t const n = least_ordered();
  auto ids = ascending_ids(n, 50, many_records);
  std::uint32_t const records = ids.back() + 1;
  warden::buffer<std::uint32_t> on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(records)};
  guarded g{values};
  warden::stream const s;
  auto const run = [&] { g.apply_async(on.data(), n, numbered{}, s); };
  // The first runs make memory, and skip the sort.
  run();
  run();
  auto const captured = warden::graph::capture(s, run);
  for (bool const ascends : {true, false}) {
    if (!ascends) std::swap(ids.front(), ids.back());
    warden::copy(on.data(), ids.data(), ids.size(), s);
    std::vector<std::uint64_t> const start(records, initial);
    warden::copy(values.data(), start.data(), start.size(), s);
    captured.launch(s);
    g.wait(s);
    EXPECT_EQ(values.to_host(), expected_from(many_records, ids, records)) << ascends;
  }
}
TEST(ascending_ids, a_gated_sort_runs_if_its_word_says_so) {
  std::vector<std::uint32_t> const keys{3, 1, 2}, values{30, 10, 20}, none(3);
  warden::buffer<std::uint32_t> const on{keys}, with{values};
  warden::buffer<std::uint32_t> sorted_keys{none}, sorted_values{none},
      gate{std::vector<std::uint32_t>(2)};
  warden::runtime::pair_arrays const all{on.data(), with.data(), sorted_keys.data(),
                                         sorted_values.data(), 3};
  constexpr unsigned bits = 2;
  warden::buffer<std::byte> temporary{warden::runtime::sort_bytes(all.n, bits)};
  warden::stream const s;
  warden::runtime::gated_sort sort;
  auto const prepare = [&] {
    return sort.prepare(all, bits, temporary.data(), temporary.bytes(), gate.data(), s);
  };
  EXPECT_FALSE(prepare());  // it takes long, and may be the only call
  for (auto const& [name, value] : warden::runtime::device_details()) {
    if ((name == "driver_cuda" || name == "toolkit") && std::stod(value) < 12.35)
      GTEST_SKIP() << "CUDA is older than 12.4";
  }
  ASSERT_TRUE(prepare());
  for (std::uint32_t const open : {0u, 1u}) {
    warden::copy(gate.data(), &open, 1, s);
    sort.launch(s);
    s.synchronize();
    EXPECT_EQ(sorted_keys.to_host(), open != 0 ? (std::vector<std::uint32_t>{1, 2, 3}) : none);
    EXPECT_EQ(sorted_values.to_host(), open != 0 ? (std::vector<std::uint32_t>{10, 20, 30}) : none);
    EXPECT_EQ(gate.to_host(), (std::vector<std::uint32_t>{0, open}));
  }
}

}  // namespace
