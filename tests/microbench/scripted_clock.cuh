// SPDX-License-Identifier: Apache-2.0
// A clock whose readings are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

/// Reads what a test prepared; only the host asks it.
struct scripted_clock {
  static constexpr char const* name = "scripted";
  static inline std::vector<std::uint64_t> readings;
  static inline std::size_t next = 0;
  static std::uint64_t now() { return readings.at(next++); }
  static void prepare(std::vector<std::uint64_t> const& r) {
    readings = r;
    next = 0;
  }
};

}  // namespace test
