// SPDX-License-Identifier: Apache-2.0
// Sums of integers of all sizes, whose words carry, and a sequential loop that gives the expected
// records.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/sections.cuh>

#include <cstdint>
#include <vector>

namespace word_sums {

using value = unsigned __int128;
struct totals {
  value all;
  std::uint64_t eight;
  std::uint32_t four;
  std::int16_t two;
  std::uint8_t one;
  std::uint16_t rows;
  friend bool operator==(totals const&, totals const&) = default;
};
/// The value, and its low bytes.
using section = warden::aggregate<value, warden::sum<&totals::one>, warden::sum<&totals::all>,
                                  warden::sum<&totals::two>, warden::sum<&totals::four>,
                                  warden::count<&totals::rows>, warden::sum<&totals::eight>>;

/// Returns values of which most have words of ones, or end in words of zeros.
inline value value_of(std::uint64_t i) {
  value const ones = ~value{0}, number = test::mix(i);
  switch (test::mix(i + 1) % 8) {
    case 0:
      return ones;
    case 1:
      return ones >> 32;
    case 2:
      return ones >> 64;
    case 3:
      return ones << 32;
    case 4:
      return value{1} << 96;
    case 5:
      return 0;
    case 6:
      return 1;
    default:
      return number << 64 | number;
  }
}
/// Applies the sections of `ids`, and compares all records with a loop.
template <class Policy>
void expect_as_in_a_loop(std::vector<std::uint32_t> const& ids, std::uint32_t records) {
  totals const first{5, 6, 7, 8, 9, 10};
  std::vector<totals> expected(records, first);
  std::vector<value> values;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    value const v = value_of(i);
    values.push_back(v);
    totals& t = expected[ids[i]];
    t.all += v;
    t.eight += static_cast<std::uint64_t>(v);
    t.four += static_cast<std::uint32_t>(v);
    t.two = static_cast<std::int16_t>(t.two + static_cast<std::int16_t>(v));
    t.one = static_cast<std::uint8_t>(t.one + static_cast<std::uint8_t>(v));
    ++t.rows;
  }
  warden::buffer<totals> found{std::vector<totals>(records, first)};
  warden::basic_guarded<Policy, totals, section> on{found};
  on.apply_async(warden::buffer<std::uint32_t>{ids}, warden::buffer<value>{values});
  on.wait();
  auto const now = found.to_host();
  for (std::uint32_t r = 0; r < records; ++r)
    ASSERT_TRUE(now[r] == expected[r]) << "record " << r << ": wrong sum";
}
/// Returns n ids below `records`; `hot` of 256 name the last record.
inline std::vector<std::uint32_t> some_ids(std::uint32_t n, std::uint32_t records,
                                           std::uint32_t hot) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < n; ++i)
    ids.push_back((test::mix(i * 3 + 1) & 255u) < hot
                      ? records - 1
                      : static_cast<std::uint32_t>(test::mix(i) % records));
  return ids;
}

}  // namespace word_sums
