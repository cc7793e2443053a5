// SPDX-License-Identifier: Apache-2.0
// Number of operations that a timed repetition needs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bench {

/// A repetition should last 20 to 300 ms; this is the target.
inline constexpr double aim_seconds = 0.05;

/// Returns a power of two from `least` to `most`: a number of operations that takes about the
/// target time, and at which the rate no longer rises with the number. `most` if there is no such
/// number. `seconds_of(n)` runs n operations and returns their time.
template <class SecondsOf>
std::uint32_t enough_operations(std::uint32_t least, std::uint32_t most, SecondsOf seconds_of) {
  double rate_before = 0;
  for (std::uint32_t n = least;;) {
    double const seconds = seconds_of(n), rate = n / seconds;
    // A fixed cost of the repetition makes the rate rise with the number of operations.
    bool const rises = rate > 1.05 * rate_before;
    if (n >= most || seconds > 4 * aim_seconds || (seconds > aim_seconds / 2 && !rises)) return n;
    rate_before = rate;
    n = std::min(most, seconds < aim_seconds / 16 ? 8 * n : 2 * n);
  }
}

}  // namespace bench
