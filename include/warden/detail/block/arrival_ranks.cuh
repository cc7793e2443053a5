// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranks of a block's items among those of the same key, in whatever order they come.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Counts a block's items by key, below `Keys`, one atomic for each; then says where those of a key
/// begin. byte_ranks does the same in order.
template <unsigned Threads, unsigned Keys>
class arrival_ranks {
 public:
  /// Items that a thread ranks between two of `clear`, at most.
  static constexpr unsigned most_per_thread = ~0u;
  /// Once the begins of keys are known, nothing is counted any more, as after `clear`.
  static constexpr bool clears = true;

  /// A block's shared memory.
  struct pieces {
    /// Takes it.
    WARDEN_HOST_DEVICE constexpr explicit pieces(arena_carver& carver)
        : counts{carver.take<std::uint32_t>(Keys)} {}
    arena_piece<std::uint32_t> counts;  ///< [key]
  };

  /// Uses `storage` exclusively.
  WARDEN_DEVICE arrival_ranks(pieces const& at, std::byte* storage)
      : counts_{at.counts.in(storage)} {}

  /// Begins anew, for keys below `keys`. Collective; a barrier lies before the first rank.
  WARDEN_DEVICE void clear(std::uint32_t keys) const {
    for (std::uint32_t key = simt::thread_rank(); key < keys; key += Threads) counts_[key] = 0;
  }
  /// The rank of one more item, of less than 65,536. Any thread.
  WARDEN_DEVICE std::uint32_t rank(std::uint32_t key) const {
    return simt::shared_fetch_add(counts_[key], 1u) & 0xffffu;
  }
  /// Number of all items of the key. Precondition: a block barrier after the last `rank`.
  WARDEN_DEVICE std::uint32_t count(std::uint32_t key) const { return counts_[key] & 0xffffu; }
  /// The key's items begin at place `begin`, below 65,536. One thread for each key.
  WARDEN_DEVICE void begin_at(std::uint32_t key, std::uint32_t begin) const {
    counts_[key] = begin << 16;  // mutation: counted-anew
  }
  /// Begin of the key's items. Precondition: a second barrier; other keys may be counted at the
  /// same time.
  WARDEN_DEVICE std::uint32_t begin_of(std::uint32_t key) const { return counts_[key] >> 16; }

 private:
  simt::shared_span<std::uint32_t> counts_;  ///< [key] items, and above 2^16 where they begin
};

}  // namespace detail
WARDEN_NAMESPACE_END
