// SPDX-License-Identifier: Apache-2.0
/// @file
/// The items of a warp: how many elements each of them emits, and which item an element is of.
#pragma once

#include <warden/block/warp_scan.cuh>
#include <warden/simt/simt.cuh>

#include <bit>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Where elements of a warp's items begin that are looked for.
struct listed_from {
  unsigned rank;         ///< of the first element's item, among those that emit any
  std::uint32_t passed;  ///< elements of that item before
};

/// The counts of `Items * 32` items, in a warp: lane l has those of the items from `l * Items` on.
///
/// Items that emit elements are listed, for a window of elements. A bit for each element of the
/// window says whether an item begins there: the bits up to an element's, counted, are its item's
/// rank. So an item is found in a few instructions, however many elements the items have.
template <unsigned Items>
class warp_items {
 public:
  /// Items of a warp.
  static constexpr unsigned size = Items * simt::warp_size;
  static_assert(size <= 8192);
  /// Elements of a window.
  static constexpr unsigned window = 4096;

  /// The warp's shared memory. Not constructed.
  struct storage {
    std::uint32_t words[size + 1];          ///< counts; then [rank + 1] what is listed
    std::uint32_t begins[window / 32 + 1];  ///< the bits, and some behind the window
  };

  /// Collective: asks `count(i)` for each item i from `first` on that is below `n`. Neighbours ask
  /// for neighbours.
  template <class Count>
  WARDEN_DEVICE warp_items(storage& shared, std::uint64_t first, std::uint64_t n,
                           Count const& count)
      : shared_{shared} {
    using counted = std::remove_cvref_t<decltype(count(first))>;
    static_assert(std::is_unsigned_v<counted> && sizeof(counted) <= 4,
                  "warden: count(i) is an unsigned integer of 32 bits at most: one item emits "
                  "4,294,967,295 elements at most");
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

  /// Elements of all of them.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t total() const { return total_; }

  /// Collective, once: each lane takes its own items.
  WARDEN_DEVICE void take() {
    unsigned const lane = simt::lane_id();
    for (unsigned w = lane; w < window / 32 + 1; w += simt::warp_size)
      simt::shared_store(shared_.begins[w], 0u);  // sabotage: begins-cleared
    simt::sync_warp(simt::full_warp);
    std::uint64_t elements = 0;
    unsigned emitting = 0;
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      counts_[j] = shared_.words[lane * Items + j];
      elements += counts_[j];
      emitting += counts_[j] != 0;
    }
    // One scan for both sums. Behind it nobody reads counts any more.
    std::uint64_t const before = warp_sum_before(elements << emitting_bits | emitting);
    before_ = before >> emitting_bits;
    rank_ = static_cast<std::uint32_t>(before) & emitting_mask;
  }

  /// Behind `take`: calls `f(item, before, count)` for the calling lane's items that emit elements:
  /// the item's number in the warp, the elements of the warp before its own, and how many it has.
  template <class F>
  WARDEN_DEVICE void for_mine(F f) const {
    std::uint64_t before = before_;
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      if (counts_[j] != 0) f(simt::lane_id() * Items + j, before, counts_[j]);
      before += counts_[j];
    }
  }

  /// Collective, once, behind `take`: lists what the first `window` elements need.
  WARDEN_DEVICE listed_from list() const {
    // Elements far beyond need not be told apart, so 32 bits do.
    auto start = static_cast<std::uint32_t>(before_ < window ? before_ : window);
    unsigned rank = rank_;
    marker marks{shared_, start};
    WARDEN_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      bool const emits = counts_[j] != 0;
      if (emits) shared_.words[rank + 1] = entry(start, simt::lane_id() * Items + j);
      rank += emits;
      marks.add(start, emits);
      start += counts_[j] < window ? counts_[j] : window;
    }
    marks.finish();
    simt::sync_warp(simt::full_warp);  // sabotage: items-listed
    return {0, 0};
  }
  /// Collective, in its place: the same for the `window` elements from `begin` on.
  WARDEN_DEVICE listed_from list_from(std::uint64_t begin) const {
    unsigned rank = rank_, earlier = 0;
    std::uint32_t passed = 0;
    marker marks{shared_, 0};
    for_mine([&](unsigned item, std::uint64_t before, std::uint32_t count) {
      bool const is_earlier = before <= begin;
      if (is_earlier && before + count > begin) passed = static_cast<std::uint32_t>(begin - before);
      earlier += is_earlier;
      if (before < begin + window) {
        auto const start = static_cast<std::uint32_t>(is_earlier ? 0 : before - begin);
        shared_.words[rank + 1] = entry(start, item);
        marks.add(start, true);
      }
      ++rank;
    });
    marks.finish();
    // One lane has the item of element `begin`. It and those before began there at the latest.
    earlier = simt::warp_sum(earlier);
    passed = simt::warp_sum(passed);
    simt::sync_warp(simt::full_warp);
    return {earlier - 1, passed};
  }

  /// Which items begin at 32 elements of the window, from `element` on: the bits. Behind `list`.
  WARDEN_DEVICE static std::uint32_t begins_at(storage const& shared, std::uint32_t element) {
    std::uint32_t const low = simt::shared_load(shared.begins[element / 32]);
    std::uint32_t const high = simt::shared_load(shared.begins[element / 32 + 1]);
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> element % 32);
  }
  /// An item that is listed.
  struct listed_item {
    std::uint32_t start;   ///< its first element in the window
    std::uint32_t number;  ///< in the warp
  };
  /// What is listed of the item before the one of a rank. Behind `list`.
  WARDEN_DEVICE static std::uint32_t const* before(storage const& shared, unsigned rank) {
    return &shared.words[rank];
  }
  /// The item of which `listed` is.
  WARDEN_DEVICE static listed_item item(std::uint32_t const* listed) {
    return {*listed >> number_bits, *listed % (1u << number_bits)};
  }

 private:
  static constexpr unsigned number_bits = std::bit_width(size - 1);
  static_assert(window >> (32 - number_bits) == 0);
  // Elements of 8,192 items of 2^32 take 45 bits, so one word holds both sums.
  static constexpr unsigned emitting_bits = 16;
  static constexpr std::uint32_t emitting_mask = (1u << emitting_bits) - 1;

  WARDEN_DEVICE static std::uint32_t entry(std::uint32_t start, unsigned item) {
    return start << number_bits | item;
  }
  /// Sets the bits of one lane's items, which come in their order: a word at a time, since its
  /// neighbours set bits of the same words.
  class marker {
   public:
    /// The first item begins at `start`.
    WARDEN_DEVICE marker(storage& shared, std::uint32_t start)
        : shared_{shared}, word_{word_of(start)} {}
    /// An item begins at `start`, if it emits any.
    WARDEN_DEVICE void add(std::uint32_t start, bool emits) {
      std::uint32_t const word = word_of(start);
      if (word != word_) {
        finish();
        word_ = word;
        bits_ = 0;
      }
      bits_ |= std::uint32_t{emits} << start % 32;
    }
    /// Sets what is left.
    WARDEN_DEVICE void finish() const { simt::shared_set_bits(shared_.begins[word_], bits_); }

   private:
    /// Nobody looks at the bits behind the last word of the window.
    WARDEN_DEVICE static std::uint32_t word_of(std::uint32_t start) {
      return start < window ? start / 32 : window / 32;
    }
    storage& shared_;
    std::uint32_t word_, bits_ = 0;
  };

  storage& shared_;
  std::uint32_t counts_[Items];
  std::uint64_t before_, total_;
  std::uint32_t rank_;
};

WARDEN_NAMESPACE_END
