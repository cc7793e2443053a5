// SPDX-License-Identifier: Apache-2.0
// Aggregates of groups: totals on the device against a loop on the host, and the keys.

#include "apps/hash_table/aggregate/groups.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using hash_table::group_keys;
using hash_table::int128;
using hash_table::real_totals;
using hash_table::whole_totals;

/// Pieces of numbers. Group 0 has half of them, and group g comes in piece g / 40 at the earliest.
template <class Number, class Draw>
std::vector<hash_table::piece<Number>> draw_pieces(std::size_t columns, Draw draw) {
  std::mt19937_64 random{7};
  std::vector<hash_table::piece<Number>> pieces(4);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    for (int i = 0; i < 600; ++i) {
      std::size_t const group = random() % 2 == 0 ? 0 : random() % ((p + 1) * 40);
      pieces[p].add(static_cast<std::uint32_t>(group * columns + random() % columns), draw(random));
    }
  }
  return pieces;
}

template <class Totals, class Number>
std::vector<Totals> add_all(std::vector<hash_table::piece<Number>> const& pieces,
                            std::size_t columns) {
  hash_table::device_totals<Totals, Number> on_device{1000, columns, 600};
  std::size_t groups = 0;
  for (auto const& piece : pieces) on_device.add(piece, groups += 40);
  return on_device.to_host(groups);
}

TEST(aggregate, whole_numbers_are_exact) {
  auto const pieces = draw_pieces<std::int64_t>(
      3, [](auto& random) { return static_cast<std::int64_t>(random()) >> (random() % 64); });
  auto const found = add_all<whole_totals>(pieces, 3);
  std::vector<std::vector<std::int64_t>> numbers(found.size());
  for (auto const& p : pieces) {
    for (std::size_t i = 0; i < p.records.size(); ++i)
      numbers[p.records[i]].push_back(p.numbers[i]);
  }
  for (std::size_t r = 0; r < found.size(); ++r) {
    SCOPED_TRACE(r);
    int128 sum = 0;
    for (std::int64_t const n : numbers[r]) sum += n;
    EXPECT_EQ(found[r].count, numbers[r].size());
    EXPECT_EQ(found[r].low, static_cast<std::uint64_t>(sum));
    EXPECT_EQ(found[r].high, static_cast<std::uint64_t>(sum >> 64));
    if (numbers[r].empty()) continue;
    auto const [least, most] = std::minmax_element(numbers[r].begin(), numbers[r].end());
    EXPECT_EQ(found[r].minimum, *least);
    EXPECT_EQ(found[r].maximum, *most);
  }
}

TEST(aggregate, floating_point_numbers_have_the_same_bits_each_time) {
  std::normal_distribution<double> normal{1000, 1};
  auto const pieces = draw_pieces<double>(1, [&](auto& random) { return normal(random); });
  auto const found = add_all<real_totals>(pieces, 1), again = add_all<real_totals>(pieces, 1);
  EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(real_totals)), 0);
  long double sum = 0, squares = 0;
  std::uint64_t count = 0;
  for (auto const& p : pieces) {
    for (std::size_t i = 0; i < p.records.size(); ++i) {
      if (p.records[i] != 0) continue;
      sum += p.numbers[i];
      ++count;
    }
  }
  for (auto const& p : pieces) {
    for (std::size_t i = 0; i < p.records.size(); ++i) {
      long double const deviation = p.numbers[i] - sum / static_cast<long double>(count);
      if (p.records[i] == 0) squares += deviation * deviation;
    }
  }
  EXPECT_EQ(found[0].count, count);
  EXPECT_NEAR(found[0].sum, static_cast<double>(sum), 1e-6);
  EXPECT_NEAR(found[0].deviations, static_cast<double>(squares), 1e-6);
}

/// Keys of one field, sorted.
std::vector<std::string> sorted(std::vector<std::string> const& keys) {
  group_keys all{1, 1 << 20};
  for (std::string const& key : keys) {
    std::string_view const fields[] = {key};
    all.number_of(fields);
  }
  all.sort();
  std::vector<std::string> found;
  std::vector<std::string_view> fields;
  for (group_keys::entry const* e : all.entries()) {
    all.split(e->first, fields);
    found.emplace_back(fields.at(0));
  }
  return found;
}

TEST(aggregate, keys_are_sorted_by_value_if_all_are_integers) {
  using testing::ElementsAre;
  EXPECT_THAT(sorted({"10", "-2", "", "9", "0", "-10", "123456789012345678901"}),
              ElementsAre("", "-10", "-2", "0", "9", "10", "123456789012345678901"));
  EXPECT_THAT(sorted({"10", "9", "a"}), ElementsAre("10", "9", "a"));
  for (char const* text : {"01", "-0", "+1", "-", " 1", "1.0"}) {
    EXPECT_THAT(sorted({"9", "10", text}).back(), "9") << text;
    EXPECT_FALSE(hash_table::is_plain_integer(text));
  }
  EXPECT_THAT(sorted({"\xff", "a", "B"}), ElementsAre("B", "a", "\xff"));
}

TEST(aggregate, keys_of_several_fields_are_not_mixed_up) {
  group_keys keys{2, 1 << 20};
  std::string_view const first[] = {"a", "bc"}, second[] = {"ab", "c"}, third[] = {"", "abc"};
  EXPECT_EQ(keys.number_of(first), 0u);
  EXPECT_EQ(keys.number_of(second), 1u);
  EXPECT_EQ(keys.number_of(third), 2u);
  EXPECT_EQ(keys.number_of(first), 0u);
  EXPECT_EQ(keys.size(), 3u);
}

TEST(aggregate, keys_stay_if_there_is_no_room_for_more) {
  group_keys keys{1, 10'000};
  std::string text;
  std::string_view const long_key = "a key that is not kept in the string itself";
  auto const number = [&](std::uint32_t i) {
    text = std::string{long_key} + std::to_string(i);
    std::string_view const fields[] = {text};
    return keys.number_of(fields);
  };
  std::uint32_t n = 0;
  EXPECT_THROW(for (; n < 1000; ++n) number(n), hash_table::memory_full);
  EXPECT_EQ(keys.size(), n);
  EXPECT_GT(n, 20u);
  for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(number(i), i);
}

}  // namespace
