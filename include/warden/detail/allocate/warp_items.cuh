// SPDX-License-Identifier: Apache-2.0
/// @file
/// The items of a warp: the number of elements of each item, and the item of each element.
#pragma once

#include <warden/detail/block/warp_scan.cuh>
#include <warden/simt/simt.cuh>

#include <bit>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Result of listing a warp's items from one element on.
struct listed_items {
  unsigned first;        ///< rank of that element's item, among items that emit elements
  unsigned end;          ///< rank after the last item
  std::uint32_t passed;  ///< elements of the first item before that element
};

/// Counts of `Items * 32` items, in a warp: lane l has those of the items from `l * Items` on.
///
/// Items that emit elements are listed. A bit for each element of a window is set if an item begins
/// there. The number of set bits up to an element gives its item's rank. So an item is found in a
/// few instructions, for any number of elements.
template <unsigned Items>
class warp_items {
 public:
  /// Items of a warp.
  static constexpr unsigned size = Items * simt::warp_size;
  static_assert(size <= 8192);
  /// Elements of a window.
  static constexpr unsigned window = 4096;
  /// Maximum of elements that a list can describe.
  static constexpr std::uint32_t reach = (1u << (32 - std::bit_width(size - 1))) - 1;
  static_assert(window < reach);

  /// Shared memory of the warp; not constructed.
  struct storage {
    std::uint32_t words[size + 1];          ///< counts; later [rank + 1] listed items
    std::uint32_t begins[window / 32 + 1];  ///< bits, and some after the window
  };

  /// Calls `count(i)` for each item i from `first` on that is below `n`. Collective over the warp;
  /// adjacent lanes call it for adjacent items.
  template <class Count>
  WARDEN_DEVICE warp_items(storage& shared, std::uint64_t first, std::uint64_t n,
                           Count const& count)
      : shared_{shared} {
    using counted = std::remove_cvref_t<decltype(count(first))>;
    static_assert(std::is_unsigned_v<counted> && sizeof(counted) <= 4,
                  "warden: count(i) is an unsigned integer of at most 32 bits: one item emits "
                  "at most 4,294,967,295 elements");
    unsigned const lane = simt::lane_id();
    std::uint64_t sum = 0;
    if (first + size <= n) {
      std::uint32_t asked[Items];
      WARDEN_UNROLL
      for (unsigned j = 0; j < Items; ++j) asked[j] = count(first + j * simt::warp_size + lane);
      WARDEN_UNROLL
      for (unsigned j = 0; j < Items; ++j) {
        shared.words[j * simt::warp_size + lane] = asked[j];
        sum += asked[j];
      }
    } else {
      WARDEN_NO_UNROLL
      for (unsigned item = lane; item < size; item += simt::warp_size) {
        std::uint32_t const asked = first + item < n ? count(first + item) : 0;
        shared.words[item] = asked;
        sum += asked;
      }
    }
    total_ = simt::warp_sum(sum);
  }

  /// Returns the elements of all items.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t total() const { return total_; }

  /// Loads each lane's own counts. Collective over the warp, once.
  WARDEN_DEVICE void take() {
    unsigned const lane = simt::lane_id();
    clear(shared_);
    simt::sync_warp(simt::full_warp);
    std::uint64_t elements = 0;
    unsigned emitting = 0;
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      counts_[j] = shared_.words[lane * Items + j];
      elements += counts_[j];
      emitting += counts_[j] != 0;
    }
    // One scan for both sums.
    std::uint64_t const sum = elements << emitting_bits | emitting, before = warp_sum_before(sum);
    before_ = before >> emitting_bits;
    rank_ = static_cast<unsigned>(before) & emitting_mask;
    emitting_ =
        static_cast<unsigned>(simt::shuffle(simt::full_warp, before + sum, simt::warp_size - 1)) &
        emitting_mask;
    // The list replaces the counts.
    simt::sync_warp(simt::full_warp);
  }

  /// Calls `f(item, before, count)` for the calling lane's items that emit elements: the item's
  /// number in the warp, the elements of the warp before it, and its number of elements. Called
  /// after `take`.
  template <class F>
  WARDEN_DEVICE void for_mine(F f) const {
    std::uint64_t before = before_;
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      if (counts_[j] != 0) f(simt::lane_id() * Items + j, before, counts_[j]);
      before += counts_[j];
    }
  }

  /// Lists all items, and marks the first window. Collective over the warp, once, after `take`.
  WARDEN_DEVICE listed_items list() const {
    // Elements beyond `reach` are not distinguished, so 32 bits suffice.
    auto start = static_cast<std::uint32_t>(before_ < reach ? before_ : reach);
    unsigned rank = rank_;
    marker marks{shared_, start};
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      bool const emits = counts_[j] != 0;
      if (emits) shared_.words[rank + 1] = entry(start, simt::lane_id() * Items + j);
      rank += emits;
      marks.add(start, emits);
      start += counts_[j] < reach ? counts_[j] : reach;
    }
    marks.finish();
    simt::sync_warp(simt::full_warp);  // mutation: items-listed
    return {0, emitting_, 0};
  }
  /// Lists the items from element `begin` on. Collective over the warp, instead of `list`.
  /// Precondition: the element exists.
  WARDEN_DEVICE listed_items list_from(std::uint64_t begin) const {
    unsigned rank = rank_, earlier = 0;
    std::uint32_t passed = 0;
    marker marks{shared_, 0};
    for_mine([&](unsigned item, std::uint64_t before, std::uint32_t count) {
      // The item of element `begin`, and items before, which are not looked up.
      bool const is_earlier = before <= begin;
      if (is_earlier && before + count > begin) passed = static_cast<std::uint32_t>(begin - before);
      earlier += is_earlier;
      std::uint64_t const far = is_earlier ? 0 : before - begin;
      auto const start = static_cast<std::uint32_t>(far < reach ? far : reach);
      shared_.words[++rank] = entry(start, item);
      marks.add(start, true);
    });
    marks.finish();
    // One lane has the item of element `begin`.
    earlier = simt::warp_sum(earlier);
    passed = simt::warp_sum(passed);
    simt::sync_warp(simt::full_warp);
    return {earlier - 1, emitting_, passed};
  }
  /// Marks the window from element `at` of the list on, in place of the one before. Returns the
  /// rank of that element's item. Collective over the warp, after `list` or `list_from`.
  WARDEN_DEVICE static unsigned mark(storage& shared, listed_items const& listed,
                                     std::uint32_t at) {
    // All lanes have finished with the window before.
    simt::sync_warp(simt::full_warp);
    clear(shared);
    simt::sync_warp(simt::full_warp);
    unsigned earlier = 0;
    for (unsigned rank = listed.first + simt::lane_id(); rank < listed.end;
         rank += simt::warp_size) {
      std::uint32_t const start = item(before(shared, rank) + 1).start;
      bool const is_earlier = start <= at;
      earlier += is_earlier;
      if (!is_earlier && start - at >= window) break;
      set_bit(shared, is_earlier ? 0 : start - at);
    }
    earlier = simt::warp_sum(earlier);
    simt::sync_warp(simt::full_warp);
    return listed.first + earlier - 1;
  }

  /// Returns a bit for each of 32 elements of the window, from `element` on: 1 if an item begins
  /// there. Called after `list`.
  WARDEN_DEVICE static std::uint32_t begins_at(storage const& shared, std::uint32_t element) {
    std::uint32_t const low = simt::shared_load(shared.begins[element / 32]);
    std::uint32_t const high = simt::shared_load(shared.begins[element / 32 + 1]);
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> element % 32);
  }
  /// A listed item.
  struct listed_item {
    std::uint32_t start;   ///< first element, counted from the begin of the list
    std::uint32_t number;  ///< number in the warp
  };
  /// Returns the list entry of the item before the one of a rank. Called after `list`.
  WARDEN_DEVICE static std::uint32_t const* before(storage const& shared, unsigned rank) {
    return &shared.words[rank];
  }
  /// Returns the item of a list entry.
  WARDEN_DEVICE static listed_item item(std::uint32_t const* listed) {
    return {*listed >> number_bits, *listed % (1u << number_bits)};
  }

 private:
  static constexpr unsigned number_bits = std::bit_width(size - 1);
  // The elements of 8,192 items of 2^32 take 45 bits, so one word holds both sums.
  static constexpr unsigned emitting_bits = 16;
  static constexpr std::uint32_t emitting_mask = (1u << emitting_bits) - 1;

  WARDEN_DEVICE static std::uint32_t entry(std::uint32_t start, unsigned item) {
    return (start < reach ? start : reach) << number_bits | item;
  }
  WARDEN_DEVICE static void clear(storage& shared) {
    for (unsigned w = simt::lane_id(); w < window / 32 + 1; w += simt::warp_size)
      simt::shared_store(shared.begins[w], 0u);  // mutation: begins-cleared
  }
  WARDEN_DEVICE static void set_bit(storage& shared, std::uint32_t element) {
    simt::shared_set_bits(shared.begins[element / 32], 1u << element % 32);
  }
  /// Sets the bits of one lane's items, which come in their order, a word at a time. Other lanes
  /// may set bits of the same words.
  class marker {
   public:
    /// Constructs a marker. The first item begins at `start`.
    WARDEN_DEVICE marker(storage& shared, std::uint32_t start)
        : shared_{shared}, word_{word_of(start)} {}
    /// Marks the begin of an item at `start`, if it emits elements.
    WARDEN_DEVICE void add(std::uint32_t start, bool emits) {
      std::uint32_t const word = word_of(start);
      if (word != word_) {
        finish();
        word_ = word;
        bits_ = 0;
      }
      bits_ |= std::uint32_t{emits} << start % 32;
    }
    /// Sets the remaining bits.
    WARDEN_DEVICE void finish() const { simt::shared_set_bits(shared_.begins[word_], bits_); }

   private:
    /// Returns the word of an element. Bits after the last word of the window are not used.
    WARDEN_DEVICE static std::uint32_t word_of(std::uint32_t start) {
      return start < window ? start / 32 : window / 32;
    }
    storage& shared_;
    std::uint32_t word_, bits_ = 0;
  };

  storage& shared_;
  std::uint32_t counts_[Items];
  std::uint64_t before_, total_;
  unsigned rank_, emitting_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
