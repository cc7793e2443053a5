// SPDX-License-Identifier: Apache-2.0
/// @file
/// What becomes of a warp's items that have their places: the library writes their elements, or the
/// caller is told the places.
#pragma once

#include <warden/allocate/element_writer.cuh>
#include <warden/allocate/item_value.cuh>
#include <warden/allocate/long_tiles.cuh>
#include <warden/allocate/output_ref.cuh>
#include <warden/allocate/warp_items.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A warp's items: those from `first` on that are below `n`, of which i emits `count(i)` elements.
template <class Count>
struct counted_items {
  std::uint64_t first;
  std::uint64_t n;
  Count const& count;
};

/// Elements by `element(i, k)`, which the library writes.
template <class T, class Element>
struct emit_elements {
  output_ref<T> out;  ///< where to
  Element element;    ///< as `allocate_async` is given it
  long_tiles listed;  ///< for warps with more elements than one should write

  /// A warp's shared memory.
  template <unsigned Items>
  struct storage {
    typename warp_items<Items>::storage items;                               ///< the items'
    typename item_values<Element, warp_items<Items>::size>::storage values;  ///< what they say
  };
  /// Elements of a part of a long tile: a warp writes as many as it counts for that several times.
  template <unsigned Items>
  static constexpr std::uint32_t part = 2 * warp_items<Items>::window;

  /// Collective over the warp: what can be done before places are known.
  template <unsigned Items, class Count>
  WARDEN_DEVICE void prepare(storage<Items>& shared, warp_items<Items>& items,
                             counted_items<Count> const& of) const {
    auto const asked = values<Items>::ask(of.first, of.n, element);
    items.take();
    values<Items>::keep(shared.values, asked);
    items.list();
  }
  /// Collective over the warp: asks for the values of its items.
  template <unsigned Items, class Count>
  WARDEN_DEVICE void ask(storage<Items>& shared, counted_items<Count> const& of) const {
    values<Items>::keep(shared.values, values<Items>::ask(of.first, of.n, element));
  }
  /// Collective over the warp, after that: writes what fits, or notes that the tile is long.
  template <unsigned Items, class Count>
  WARDEN_DEVICE void write(storage<Items>& shared, warp_items<Items> const& items,
                           counted_items<Count> const& of, std::uint64_t first) const {
    constexpr unsigned window = warp_items<Items>::window;
    std::uint64_t const elements = that_fit(first, items.total());
    if (elements > listed.longest) {
      if (simt::lane_id() == 0) listed.add({of.first, first, elements});
      return;
    }
    auto const here = static_cast<std::uint32_t>(elements < window ? elements : window);
    element_writer<T, Items>::write(
        shared.items, 0, here,
        [&](std::uint32_t const* listed_there, std::uint32_t x) {
          auto const item = warp_items<Items>::item(listed_there);
          return values<Items>::element(shared.values, element, of.first, item.number,
                                        x - item.start);
        },
        out.data() + first);
    if (elements > window)
      write_from(shared, of, window, static_cast<std::uint32_t>(elements) - window,
                 out.data() + first + window);
  }
  /// Collective over the warp, for values that were asked for: writes `elements` elements from
  /// element `begin` on, to `to` and on. The items are counted again.
  template <unsigned Items, class Count>
  WARDEN_DEVICE void write_from(storage<Items>& shared, counted_items<Count> const& of,
                                std::uint64_t begin, std::uint32_t elements, T* to) const {
    constexpr unsigned window = warp_items<Items>::window;
    WARDEN_NO_UNROLL
    for (std::uint32_t at = 0; at < elements; at += window) {
      // Nobody reads any more what was listed.
      simt::sync_warp(simt::full_warp);  // sabotage: listed-read
      warp_items<Items> items{shared.items, of.first, of.n, of.count};
      std::uint32_t const left = elements - at, here = left < window ? left : window;
      if (items.total() < begin + at + here) {
        if (simt::lane_id() == 0) listed.note_change();
        return;
      }
      items.take();
      listed_from const from = items.list_from(begin + at);
      auto const begun = warp_items<Items>::before(shared.items, from.rank) + 1;
      element_writer<T, Items>::write(
          shared.items, from.rank, here,
          [&](std::uint32_t const* listed_there, std::uint32_t x) {
            auto const item = warp_items<Items>::item(listed_there);
            return values<Items>::element(
                shared.values, element, of.first, item.number,
                x - item.start + (listed_there == begun ? from.passed : 0));
          },
          to + at);
    }
  }

 private:
  template <unsigned Items>
  using values = item_values<Element, warp_items<Items>::size>;

  [[nodiscard]] WARDEN_DEVICE std::uint64_t that_fit(std::uint64_t first,
                                                     std::uint64_t total) const {
    if (first >= out.capacity()) return 0;
    std::uint64_t const room = out.capacity() - first;
    return total < room ? total : room;
  }
};

/// Places by `write(i, place)`, for items whose elements all fit.
template <class T, class Write>
struct emit_places {
  output_ref<T> out;   ///< where to
  Write write_places;  ///< as `allocate_places_async` is given it

  /// A warp's shared memory.
  template <unsigned Items>
  struct storage {
    typename warp_items<Items>::storage items;  ///< the items'
  };

  /// Collective over the warp: what can be done before places are known.
  template <unsigned Items, class Count>
  WARDEN_DEVICE static void prepare(storage<Items> const&, warp_items<Items>& items,
                                    counted_items<Count> const&) {
    items.take();
  }
  /// Tells the places of a warp's items.
  template <unsigned Items, class Count>
  WARDEN_DEVICE void write(storage<Items> const&, warp_items<Items> const& items,
                           counted_items<Count> const& of, std::uint64_t first) const {
    items.for_mine([&](unsigned item, std::uint64_t before, std::uint32_t count) {
      std::uint64_t const place = first + before;
      if (place + count <= out.capacity()) write_places(of.first + item, place);
    });
  }
};

WARDEN_NAMESPACE_END
