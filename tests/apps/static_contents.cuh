// SPDX-License-Identifier: Apache-2.0
// A static table against a map on the host.
#pragma once

#include "apps/hash_table/static_table.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace test::static_tables {

using hash_table::static_table;
using words = std::vector<std::uint32_t>;

/// An odd factor: no two keys are equal.
inline words distinct_keys(std::uint32_t n, std::uint32_t from = 0) {
  words keys(n);
  for (std::uint32_t i = 0; i < n; ++i) keys[i] = (from + i) * 2654435761u;
  return keys;
}
inline words values_of(words const& keys) {
  words values(keys.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i * 7 + 3;
  return values;
}
inline void build(static_table& t, words const& keys, words const& values) {
  warden::buffer<std::uint32_t> const k{keys}, v{values};
  t.build(k.data(), v.data(), static_cast<std::uint32_t>(keys.size()));
}

/// Builds, and checks every key, `others`, and the numbers.
inline void check(static_table& t, words const& keys, words const& others) {
  words const values = values_of(keys);
  build(t, keys, values);
  std::unordered_map<std::uint32_t, std::uint32_t> wanted;
  for (std::size_t i = 0; i < keys.size(); ++i) wanted.emplace(keys[i], values[i]);
  EXPECT_EQ(t.size(), wanted.size());
  EXPECT_EQ(t.repeats(), keys.size() - wanted.size());

  words asked = keys;
  asked.insert(asked.end(), others.begin(), others.end());
  auto const n = static_cast<std::uint32_t>(asked.size());
  warden::buffer<std::uint32_t> const device_asked{asked};
  warden::buffer<std::uint32_t> found_values{n};
  warden::buffer<bool> found{n};
  t.find_async(device_asked.data(), n, found_values.data(), found.data());
  words const got = found_values.to_host();
  std::vector<std::uint8_t> is_there(n);
  warden::copy(reinterpret_cast<bool*>(is_there.data()), found.data(), n);
  warden::stream_ref{}.synchronize();
  std::size_t wrong = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    auto const w = wanted.find(asked[i]);
    bool const right = w == wanted.end() ? is_there[i] == 0 && got[i] == 0
                                         : is_there[i] == 1 && got[i] == w->second;
    wrong += right ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0u) << "searches with a wrong answer, of " << n;
}

}  // namespace test::static_tables
