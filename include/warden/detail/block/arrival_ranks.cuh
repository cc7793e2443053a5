// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranks of a block's items among those of the same key, in the order in which they happen to come.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Counts a block's items by key, below `Keys`, by one atomic each. Then tells where the items of a
/// key begin. byte_ranks does the same in the items' order.
template <unsigned Threads, unsigned Keys>
class arrival_ranks {
 public:
  /// Largest number of items that a thread ranks between two calls of `clear`.
  static constexpr unsigned most_per_thread = ~0u;
  /// True: `begin_at` also clears the counts, so that no `clear` is needed.
  static constexpr bool clears = true;

  /// A block's shared memory.
  struct pieces {
    /// Takes the memory.
    WARDEN_HOST_DEVICE constexpr explicit pieces(arena_carver& carver)
        : counts{carver.take<std::uint32_t>(Keys)} {}
    arena_piece<std::uint32_t> counts;  ///< [key]
  };

  /// Uses `storage` exclusively.
  WARDEN_DEVICE arrival_ranks(pieces const& at, std::byte* storage)
      : counts_{at.counts.in(storage)} {}

  /// Starts again, for keys below `keys`. Collective; a barrier lies before the first rank.
  WARDEN_DEVICE void clear(std::uint32_t keys) const {
    for (std::uint32_t key = simt::thread_rank(); key < keys; key += Threads) counts_[key] = 0;
  }
  /// Counts one more item of a key. Returns its rank, below 65,536. Any thread.
  WARDEN_DEVICE std::uint32_t rank(std::uint32_t key) const {
    return simt::shared_fetch_add(counts_[key], 1u) & 0xffffu;
  }
  /// Returns the number of items of the key. Precondition: a block barrier after the last `rank`.
  WARDEN_DEVICE std::uint32_t count(std::uint32_t key) const { return counts_[key] & 0xffffu; }
  /// Sets the place where the key's items begin, below 65,536. One thread for each key.
  WARDEN_DEVICE void begin_at(std::uint32_t key, std::uint32_t begin) const {
    counts_[key] = begin << 16;  // mutation: counted-anew
  }
  /// Returns the begin of the key's items. Precondition: a second barrier. Other keys may be
  /// counted at the same time.
  WARDEN_DEVICE std::uint32_t begin_of(std::uint32_t key) const { return counts_[key] >> 16; }

 private:
  simt::shared_span<std::uint32_t> counts_;  ///< [key] items; begin in the high half
};

}  // namespace detail
WARDEN_NAMESPACE_END
