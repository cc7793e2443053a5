// SPDX-License-Identifier: Apache-2.0
/// @file
/// Limits how far the blocks of a run are ahead of the slowest, if sections may write to other
/// memory than their records.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Progress of one partition through the rows of a log, compared with the others. Sections of one
/// row write near each other, in all partitions. While all partitions are about equally far, that
/// memory is written back once. A block far ahead finds it evicted from the level-2 cache, and
/// slower blocks load it again. A block that is ahead of the average therefore pauses, for a
/// bounded time: no block waits for another.
class progress_throttle {
 public:
  /// Notes that this one of `partitions` has passed `rows` rows. `sum` counts the rows that all
  /// have passed, modulo 2^32. Precondition: `rows` does not decrease. One thread, after each
  /// window.
  WARDEN_DEVICE void pass(std::uint32_t rows, std::uint32_t* sum, std::uint32_t partitions) {
    std::uint32_t const window = rows - passed_;
    auto const limit = static_cast<std::int32_t>(most_ahead * window * partitions);
    for (unsigned p = 0; p < pauses; ++p) {
      if (static_cast<std::int32_t>(passed_ * partitions - all_) <= limit) break;
      simt::back_off(longest);
      all_ = simt::load_relaxed(sum);
    }
    // The result is used when the next window has run.
    all_ = simt::fetch_add(sum, window);
    passed_ = rows;
  }

 private:
  /// Windows that a partition may be ahead.
  static constexpr std::uint32_t most_ahead = 2;
  /// Pauses after a window, about half a microsecond each.
  static constexpr unsigned pauses = 8, longest = 5;

  std::uint32_t all_ = 0;     ///< rows passed by all, when this one was at `passed_`
  std::uint32_t passed_ = 0;  ///< rows passed by this one, as added to the sum
};

}  // namespace detail
WARDEN_NAMESPACE_END
