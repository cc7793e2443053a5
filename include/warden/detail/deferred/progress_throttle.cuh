// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keeps the blocks that run a log in step, where sections may write beside their records.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// How far one partition has come through the rows of a log, beside the others. Sections of one row
/// write near each other, whatever partition they belong to. While all partitions are about as far,
/// that is written to memory once; a block far ahead of another one finds it gone from the level-2
/// cache, and the other one brings it back. So who is ahead of what all are on average pauses, for
/// a bounded time: nobody waits for anybody.
class progress_throttle {
 public:
  /// This one of `partitions` has passed so many rows, not fewer than before. `sum` is of the rows
  /// that all have passed, modulo 2^32. One thread, behind each window.
  WARDEN_DEVICE void pass(std::uint32_t rows, std::uint32_t* sum, std::uint32_t partitions) {
    std::uint32_t const window = rows - passed_;
    auto const limit = static_cast<std::int32_t>(most_ahead * window * partitions);
    for (unsigned p = 0; p < pauses; ++p) {
      if (static_cast<std::int32_t>(passed_ * partitions - all_) <= limit) break;
      simt::back_off(longest);
      all_ = simt::load_relaxed(sum);
    }
    // What it returns is looked at when the next window has run.
    all_ = simt::fetch_add(sum, window);
    passed_ = rows;
  }

 private:
  /// Windows that a partition may be ahead.
  static constexpr std::uint32_t most_ahead = 2;
  /// Pauses of a window, about half a microsecond each.
  static constexpr unsigned pauses = 8, longest = 5;

  std::uint32_t all_ = 0;     ///< passed by all, when this one was at `passed_`
  std::uint32_t passed_ = 0;  ///< by this one, as told to the others
};

}  // namespace detail
WARDEN_NAMESPACE_END
