// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes the elements of a tile's items: neighbours by neighbouring threads, 16 bytes at once.
#pragma once

#include <warden/allocate/item_tile.cuh>
#include <warden/block/warp_scan.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN

/// Writes elements of type `T`, in a block of `Threads` threads.
///
/// Elements are taken in windows. A bit for each element of a window says whether an item begins
/// there: the bits up to an element's, counted, are the number of its item among those that emit
/// any. So an item is found in a few instructions, however many elements the items have.
template <class T, unsigned Threads>
class element_writer {
  /// Elements that are stored at once.
  static constexpr unsigned group = 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;
  static constexpr unsigned elements_each = 16;
  static constexpr unsigned of_warp = elements_each * simt::warp_size;
  static constexpr unsigned words_of_warp = of_warp / 32;
  static constexpr unsigned words = elements_each * Threads / 32;
  static_assert(32 % group == 0 && words <= Threads && words_of_warp <= simt::warp_size);

 public:
  /// Elements of a window.
  static constexpr unsigned window = elements_each * Threads;
  /// The block's shared memory. Not constructed.
  struct storage {
    std::uint32_t begins[2][words];  ///< [window modulo 2]: the bits
  };

  /// Collective: where item i emits `element(i, k)` as its k-th, writes `elements` elements, less
  /// than 2^31, from one of a tile on, whose first item is `first_item`, to `to` and on. `Tile` is
  /// an `item_tile` of the same threads, which has listed its `emitting` items from that element
  /// on, and said that `earlier` of them begin before. `to` is aligned as the elements are.
  template <class Tile, class Element>
  WARDEN_DEVICE static void write(typename Tile::storage const& listed, unsigned emitting,
                                  unsigned earlier, storage& shared, std::uint32_t elements,
                                  std::uint64_t first_item, Element const& element, T* to) {
    unsigned const me = simt::thread_rank();
    // Groups are aligned in memory, if elements can be: the first one may begin before the first
    // element.
    auto const address = reinterpret_cast<std::uintptr_t>(to);
    bool const has_groups = address % sizeof(T) == 0;
    auto const shift = static_cast<std::uint32_t>(address / sizeof(T) % group);
    std::uint32_t const limit = elements + shift;
    if (me < words) simt::shared_store(shared.begins[0][me], 0u);
    for (std::uint32_t at = 0, turn = 0; at < limit; at += window, turn ^= 1) {
      // The list, and the cleared bits; and nobody reads the other window's any more.
      simt::sync_block();
      if (me < words)
        simt::shared_store(shared.begins[turn ^ 1][me], 0u);  // sabotage: begins-cleared
      for (unsigned rank = earlier + me; rank < emitting; rank += Threads) {
        std::uint32_t const start = listed.items[rank].start;
        if (start == Tile::beyond || start + shift - at >= window) break;
        std::uint32_t const bit = start + shift - at;
        simt::shared_set_bits(shared.begins[turn][bit / 32], 1u << bit % 32);
      }
      simt::sync_block();
      earlier = write_window(listed, shared.begins[turn], earlier, {at, shift, limit, has_groups},
                             first_item, element, to - shift + at);
    }
  }

 private:
  struct span {
    std::uint32_t at, first, end;  ///< elements from the aligned place on: window, first, end
    bool has_groups;               ///< whether there are aligned ones
  };
  /// Returns how many items begin before the window's end.
  template <class Listed, class Element>
  WARDEN_DEVICE static unsigned write_window(Listed const& listed,
                                             std::uint32_t const (&begins)[words], unsigned earlier,
                                             span const of, std::uint64_t first_item,
                                             Element const& element, T* to) {
    unsigned const lane = simt::lane_id(), first_word = words_of_warp * simt::warp_rank();
    unsigned before = 0, all = 0;
    WARDEN_UNROLL
    for (unsigned first = 0; first < words; first += simt::warp_size) {
      unsigned const word = first + lane;
      unsigned const bits =
          word < words ? static_cast<unsigned>(simt::count_bits(simt::shared_load(begins[word])))
                       : 0;
      all += bits;
      before += word < first_word ? bits : 0;
    }
    all = simt::warp_sum(all);
    if (of.at + of_warp * simt::warp_rank() >= of.end) return earlier + all;
    before = earlier + simt::warp_sum(before);
    std::uint32_t const mine =
        lane < words_of_warp ? simt::shared_load(begins[first_word + lane]) : 0;
    before += warp_sum_before(static_cast<std::uint32_t>(simt::count_bits(mine)));

    // From here on all is counted from the warp's first element.
    std::uint32_t const at = of.at + of_warp * simt::warp_rank();
    to += of_warp * simt::warp_rank();
    // The bits up to an element's, and how many items begin before it.
    struct found {
      std::uint32_t bits;
      unsigned rank;
    };
    auto const find = [&](unsigned offset) {
      std::uint32_t const word = simt::shuffle(simt::full_warp, mine, offset / 32);
      unsigned const rank = simt::shuffle(simt::full_warp, before, offset / 32);
      std::uint32_t const passed = word & ((1u << offset % 32) - 1);
      return found{word >> offset % 32, rank + static_cast<unsigned>(simt::count_bits(passed))};
    };
    auto const make = [&](unsigned rank, std::uint32_t x) {
      auto const item = listed.items[rank - 1];
      return element(first_item + item.number, x - of.first - item.start);
    };
    auto const write_group = [&](unsigned offset, found its) {
      if constexpr (group == 1) {
        to[offset] = make(its.rank + (its.bits & 1), at + offset);
      } else {
        // All of them at once, whether another item begins or not: nobody waits in turn.
        std::uint32_t made[4];
        WARDEN_UNROLL
        for (unsigned v = 0; v < group; ++v) {
          its.rank += its.bits >> v & 1;
          T const one = make(its.rank, at + offset + v);
          std::memcpy(reinterpret_cast<unsigned char*>(made) + v * sizeof(T), &one, sizeof(T));
        }
        simt::store_four_words(to + offset, made);
      }
    };
    if (of.has_groups && at >= of.first && at + of_warp <= of.end) {
      // All of the warp's elements: its turns do not wait for one another.
      WARDEN_UNROLL
      for (unsigned turn = 0; turn < elements_each / group; ++turn) {
        unsigned const offset = (turn * simt::warp_size + lane) * group;
        write_group(offset, find(offset));
      }
      return earlier + all;
    }
    WARDEN_NO_UNROLL
    for (unsigned turn = 0; turn < elements_each / group; ++turn) {
      unsigned const offset = (turn * simt::warp_size + lane) * group;
      found its = find(offset);
      std::uint32_t const x = at + offset;
      if (of.has_groups && x >= of.first && x + group <= of.end) {
        write_group(offset, its);
        continue;
      }
      WARDEN_NO_UNROLL
      for (unsigned v = 0; v < group; ++v) {
        its.rank += its.bits >> v & 1;
        if (x + v >= of.first && x + v < of.end) to[offset + v] = make(its.rank, x + v);
      }
    }
    return earlier + all;
  }
};

WARDEN_NAMESPACE_END
