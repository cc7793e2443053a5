// SPDX-License-Identifier: Apache-2.0
/// @file
/// A tile of items: how many elements each of them emits, and which item an element is of.
#pragma once

#include <warden/simt/collective.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// The counts of a tile of `Threads * Items` items, in a block of `Threads` threads: thread t has
/// those of the items from `t * Items` on.
template <unsigned Threads, unsigned Items>
class item_tile {
  using scan = simt::block_scan<Threads, true, std::uint64_t>;

 public:
  /// Items of a tile.
  static constexpr unsigned size = Threads * Items;
  /// An item that emits elements.
  struct alignas(8) listed_item {
    std::uint32_t start;   ///< its first element, as `list` says
    std::uint32_t number;  ///< in the tile
  };
  /// The block's shared memory. Not constructed.
  struct storage {
    union {
      alignas(16) std::uint32_t counts[size];  ///< of all items, at first
      listed_item items[size];                 ///< then those that emit any
    };
    typename scan::storage sums;  ///< temporary
    unsigned earlier;             ///< items that begin before the elements asked for
  };

  /// Collective: asks `count(i)` for each item i from `first` on that is below `n`.
  template <class Count>
  WARDEN_DEVICE item_tile(storage& shared, std::uint64_t first, std::uint64_t n, Count const& count)
      : shared_{shared} {
    using counted = std::remove_cvref_t<decltype(count(first))>;
    static_assert(std::is_unsigned_v<counted> && sizeof(counted) <= 4,
                  "warden: count(i) is an unsigned integer of 32 bits at most: one item emits "
                  "4,294,967,295 elements at most");
    unsigned const me = simt::thread_rank();
    // Neighbours ask for neighbours; then each thread takes its own.
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      unsigned const item = j * Threads + me;
      shared_.counts[item] = first + item < n ? count(first + item) : 0;
    }
    if (me == 0) simt::shared_store(shared_.earlier, 0u);
    simt::sync_block();
    std::uint64_t sum = 0;
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      counts_[j] = shared_.counts[me * Items + j];
      sum += std::uint64_t{counts_[j]} << emitting_bits | (counts_[j] != 0);
    }
    // One scan for both sums. It has a barrier, behind which nobody reads counts any more.
    std::uint64_t total;
    std::uint64_t const before = scan::exclusive_sum(shared_.sums, sum, total);
    before_ = before >> emitting_bits;
    total_ = total >> emitting_bits;
    rank_ = static_cast<std::uint32_t>(before) & emitting_mask;
    emitting_ = static_cast<std::uint32_t>(total) & emitting_mask;
  }

  /// Elements of the whole tile.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t total() const { return total_; }
  /// Items that emit any.
  [[nodiscard]] WARDEN_DEVICE unsigned emitting() const { return emitting_; }

  /// Calls `f(item, before, count)` for the calling thread's items that emit elements: the item's
  /// number in the tile, the elements of the tile before its own, and how many it has.
  template <class F>
  WARDEN_DEVICE void for_mine(F f) const {
    std::uint64_t before = before_;
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      if (counts_[j] != 0) f(simt::thread_rank() * Items + j, before, counts_[j]);
      before += counts_[j];
    }
  }

  /// Where an item is listed to begin that begins 2^31 elements or more after `begin`.
  static constexpr std::uint32_t beyond = 0xffffffff;
  /// Collective, once: lists the items that emit elements to `shared.items`, in their order. Where
  /// they begin is counted from the tile's element `begin` on and modulo 2^32, or `beyond`. A block
  /// barrier must pass before the list is read. Returns how many of them begin before `begin`: the
  /// last of these may reach beyond it.
  WARDEN_DEVICE unsigned list(std::uint64_t begin) {
    unsigned rank = rank_;
    unsigned earlier = 0;
    for_mine([&](unsigned item, std::uint64_t before, std::uint32_t) {
      bool const is_near = before < begin + (std::uint64_t{1} << 31);
      shared_.items[rank] = {is_near ? static_cast<std::uint32_t>(before - begin) : beyond, item};
      ++rank;
      earlier += before < begin;
    });
    if (begin == 0) return 0;
    earlier = simt::warp_sum(earlier);
    if (simt::lane_id() == 0 && earlier != 0) simt::shared_fetch_add(shared_.earlier, earlier);
    simt::sync_block();
    return simt::shared_load(shared_.earlier);
  }

 private:
  // Elements of 8,192 items of 2^32 take 45 bits, so one word holds both sums.
  static constexpr unsigned emitting_bits = 16;
  static constexpr std::uint32_t emitting_mask = (1u << emitting_bits) - 1;
  static_assert(size <= 8192);

  storage& shared_;
  std::uint32_t counts_[Items];
  std::uint64_t before_, total_;
  std::uint32_t rank_, emitting_;
};

WARDEN_NAMESPACE_END
