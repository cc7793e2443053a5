// SPDX-License-Identifier: Apache-2.0
/// @file
/// Stable sort of a block's items by a digit, in shared memory.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/stable_ranks.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Largest number of bits of a digit, and of digits.
inline constexpr unsigned digit_bits = 10, digits = 1u << digit_bits;
/// Stands for the digit of no item.
inline constexpr std::uint32_t no_digit = ~0u;

/// Places of a block's items after a stable sort by digit. Item k of lane l of warp w is number
/// (w * `PerThread` + k) * 32 + l.
template <unsigned Threads, unsigned PerThread>
class digit_sort {
  using ranks = stable_ranks<Threads, digits>;
  using scan = simt::block_scan_by_warps<Threads>;
  static constexpr unsigned each = digits / Threads;

 public:
  /// A block's shared memory.
  struct pieces {
    /// The counts have at least `counts_bytes` bytes, for what takes their place later.
    WARDEN_HOST_DEVICE constexpr explicit pieces(arena_carver& carver, std::size_t counts_bytes = 0)
        : counts{carver.take<std::uint16_t>(ranks::size * sizeof(std::uint16_t) < counts_bytes
                                                ? counts_bytes / sizeof(std::uint16_t)
                                                : ranks::size,
                                            alignof(std::uint64_t))},
          starts{carver.take<std::uint32_t>(digits)},
          scanning{carver.take<typename scan::storage>(1)} {}
    arena_piece<std::uint16_t> counts;  ///< see stable_ranks; free once all places are taken
    arena_piece<std::uint32_t> starts;  ///< [digit] first place
    arena_piece<typename scan::storage> scanning;
  };

  WARDEN_DEVICE digit_sort(pieces const& at, std::byte* storage)
      : ranks_{at.counts.in(storage)},
        starts_{at.starts.in(storage)},
        scan_{at.scanning.in(storage)} {}

  /// Returns the number of the thread's item k.
  WARDEN_DEVICE static std::uint32_t item(unsigned k) {
    return (simt::warp_rank() * PerThread + k) * simt::warp_size + simt::lane_id();
  }
  /// Ranks the items, whose digits are `of`. Calls `counted(digit, count)` for each digit, from one
  /// thread. Collective; a barrier has passed since the last use of the storage.
  template <class Counted>
  WARDEN_DEVICE void rank(std::uint32_t const (&of)[PerThread], Counted const& counted) {
    ranks_.start(digits);
    WARDEN_UNROLL
    for (unsigned k = 0; k < PerThread; ++k) {
      bool const has = of[k] != no_digit;
      rank_[k] = ranks_.rank(has ? of[k] : 0, has);
    }
    simt::sync_block();
    std::uint32_t const first = simt::thread_rank() * each;
    std::uint32_t counts[each], sum = 0;
    WARDEN_UNROLL
    for (unsigned d = 0; d < each; ++d) {
      counts[d] = ranks_.add_up(first + d);
      sum += counts[d];
    }
    std::uint32_t start = scan::exclusive_sum(scan_[0], sum, total_);
    WARDEN_UNROLL
    for (unsigned d = 0; d < each; ++d) {
      starts_[first + d] = start;
      counted(first + d, counts[d]);
      start += counts[d];
    }
    simt::sync_block();
  }
  /// Returns the number of all items.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t total() const { return total_; }
  /// Returns the place of the first item of a digit.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t start(std::uint32_t digit) const {
    return starts_[digit];
  }
  /// Returns the places of the first items of all digits.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t const* starts() const { return starts_.data(); }
  /// Returns the place of the thread's item k, whose digit is `of`.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t place(unsigned k, std::uint32_t of) const {
    return starts_[of] + ranks_.before(of) + rank_[k];
  }

 private:
  ranks ranks_;
  simt::shared_span<std::uint32_t> starts_;
  simt::shared_span<typename scan::storage> scan_;
  std::uint32_t rank_[PerThread];
  std::uint32_t total_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
