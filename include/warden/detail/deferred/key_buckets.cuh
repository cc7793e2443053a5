// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups a batch's messages by key in shared memory, to find keys that repeat. A counting sort by
/// buckets of keys leaves out messages that are alone in their bucket.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <bit>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Buckets of up to `Slots` messages of a block of `Threads` threads. There are about `Slots`
/// buckets. Sections of equal key combine.
template <class Key, unsigned Threads, unsigned Slots>
class key_buckets {
  using scan = simt::block_scan_by_warps<Threads>;
  static constexpr unsigned bits = std::bit_width(std::bit_floor(Slots)) - 1;

 public:
  /// Words of shared memory, two buckets each. They are zero before the first message is ranked.
  static constexpr unsigned words = std::bit_floor(Slots) / 2;
  /// Additional shared memory, for one scan at a time.
  using scanning = typename scan::storage;
  /// Counts that `place` returns.
  struct counted {
    std::uint32_t messages;  ///< messages of the batch
    std::uint32_t repeated;  ///< messages that share a bucket
    std::uint32_t most;      ///< messages of this thread's fullest bucket
  };

  /// `counts` and `shared` belong to the block.
  WARDEN_DEVICE key_buckets(std::uint32_t (&counts)[words], scanning& shared)
      : counts_{counts, words}, scan_{&shared, 1} {}

  /// Empties the buckets. Barriers must follow. Collective.
  WARDEN_DEVICE void clear() const {
    for (unsigned b = simt::thread_rank(); b < words; b += Threads) counts_[b] = 0;
  }
  /// Counts one more message with this key. Returns its rank in its bucket.
  WARDEN_DEVICE std::uint16_t rank(Key key) const {
    unsigned const bucket = bucket_of(key), shift = bucket % 2 * 16;
    return static_cast<std::uint16_t>(simt::shared_fetch_add(counts_[bucket / 2], 1u << shift) >>
                                      shift);
  }
  /// Turns counts into the places where buckets begin. Other threads see them after a barrier.
  /// Collective.
  WARDEN_DEVICE counted place() const {
    constexpr unsigned mine = (words + Threads - 1) / Threads;
    unsigned const first = simt::thread_rank() * mine;
    std::uint32_t sum = 0, total;  // messages, and in the high half those that share a bucket
    std::uint32_t most = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < mine; ++k) {
      if (first + k >= words) break;
      std::uint32_t const both = counts_[first + k];
      std::uint32_t const low = both & 0xffffu, high = both >> 16;
      sum += low + high + (((low > 1 ? low : 0) + (high > 1 ? high : 0)) << 16);
      most = most < low ? low : most;
      most = most < high ? high : most;
    }
    std::uint32_t place = scan::exclusive_sum(scan_[0], sum, total) >> 16;
    WARDEN_UNROLL
    for (unsigned k = 0; k < mine; ++k) {
      if (first + k >= words) break;
      std::uint32_t const both = counts_[first + k];
      std::uint32_t const low = both & 0xffffu, high = both >> 16;
      std::uint32_t const at = low > 1 ? place : alone;
      if (low > 1) place += low;
      counts_[first + k] = at | ((high > 1 ? place : alone) << 16);
      if (high > 1) place += high;
    }
    return {total & 0xffffu, total >> 16, most};
  }
  /// Place of a bucket whose message is alone.
  static constexpr std::uint32_t alone = 0xffff;
  /// Returns the place where the bucket of a key begins, or `alone`.
  WARDEN_DEVICE std::uint32_t begin_of(Key key) const {
    unsigned const bucket = bucket_of(key);
    return (counts_[bucket / 2] >> (bucket % 2 * 16)) & 0xffffu;
  }

  // A sample uses the same memory for more buckets, of one byte each.

  /// Empties the buckets of the sample. A barrier must follow. Collective.
  WARDEN_DEVICE void clear_sample() const {
    for (unsigned b = simt::thread_rank(); b < sampled; b += Threads) counts_[b] = 0;
  }
  /// Counts one more message of the sample. Returns the number of messages that its bucket had
  /// before. A count above 255 overflows into the next bucket; by then a thread has found the hot
  /// record.
  WARDEN_DEVICE std::uint32_t sample(Key key) const {
    unsigned const bucket = scattered(key) >> sample_shift, shift = bucket % 4 * 8;
    return simt::shared_fetch_add(counts_[bucket / 4], 1u << shift) >> shift & 0xffu;
  }

 private:
  static constexpr unsigned sampled = words < 1024 ? words : 1024;
  static constexpr unsigned sample_shift = 33 - std::bit_width(4 * sampled);

  WARDEN_DEVICE static unsigned scattered(Key key) { return folded(key) * 2654435769u; }
  WARDEN_DEVICE static unsigned bucket_of(Key key) { return scattered(key) >> (32 - bits); }

  simt::shared_span<std::uint32_t> counts_;  ///< [two buckets] messages, then where they begin
  simt::shared_span<scanning> scan_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
