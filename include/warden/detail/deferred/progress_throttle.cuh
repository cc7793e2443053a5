// SPDX-License-Identifier: Apache-2.0
/// @file
/// Limits how far the blocks of a run are ahead of the slowest, if sections may write to other
/// memory than their records.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Progress of one block through the rows of its partition, compared with the others. Sections of
/// one row write near each other, in all partitions. While all blocks are about equally far, that
/// memory is written back once. A block far ahead finds it evicted from the level-2 cache, and
/// slower blocks load it again. A block that is ahead of the average therefore pauses, for a
/// bounded time: no block waits for another.
class progress_throttle {
 public:
  /// Begins a partition of `rows` rows, as many as each of the `partitions` has. The block has run
  /// `turn` partitions before it. `sum` counts the rows that all blocks have passed, modulo 2^32.
  WARDEN_DEVICE progress_throttle(std::uint32_t* sum, std::uint32_t rows, std::uint32_t partitions,
                                  std::uint32_t turn)
      : sum_{sum} {
    std::uint32_t const blocks = simt::block_count(), before = turn * blocks;
    std::uint32_t const left = before < partitions ? partitions - before : 0;
    together_ = left < blocks ? left : blocks;  // 0 if blocks have taken partitions unevenly
    before_ = before * rows;
  }
  /// Notes that the block has passed `rows` rows of its partition, and pauses if it is ahead.
  /// Returns the number of pauses. Precondition: `rows` does not decrease. One thread, after each
  /// window except the last.
  WARDEN_DEVICE unsigned pass(std::uint32_t rows) {
    std::uint32_t const window = rows - passed_;
    passed_ = rows;
    std::uint32_t all = simt::fetch_add(sum_, window) + window;
    auto const limit = static_cast<std::int32_t>(most_ahead * window * together_);
    unsigned paused = 0;
    for (; paused < pauses && together_ != 0; ++paused) {
      if (static_cast<std::int32_t>(passed_ * together_ - (all - before_)) <= limit) break;
      simt::back_off(longest);
      all = simt::load_relaxed(sum_);
    }
    return paused;
  }
  /// Notes that the block has passed all `rows` rows of its partition. One thread.
  WARDEN_DEVICE void finish(std::uint32_t rows) const { simt::add(sum_, rows - passed_); }

 private:
  /// Windows that a block may be ahead.
  static constexpr std::uint32_t most_ahead = 1;
  /// Pauses after a window, about half a microsecond each.
  static constexpr unsigned pauses = 8, longest = 5;

  std::uint32_t* sum_;
  std::uint32_t together_;    ///< blocks that run a partition in this turn
  std::uint32_t before_;      ///< rows that all blocks pass in the turns before
  std::uint32_t passed_ = 0;  ///< rows passed by this block in its partition
};

}  // namespace detail
WARDEN_NAMESPACE_END
