// SPDX-License-Identifier: Apache-2.0
/// @file
/// Output of a warp's items after they have places: the library writes their elements, or the
/// caller is given the places.
#pragma once

#include <warden/detail/allocate/element_writer.cuh>
#include <warden/detail/allocate/item_value.cuh>
#include <warden/detail/allocate/long_tiles.cuh>
#include <warden/detail/allocate/output_ref.cuh>
#include <warden/detail/allocate/warp_items.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Items of a warp: those from `first` on that are below `n`. Item i emits `count(i)` elements.
template <class Count>
struct counted_items {
  std::uint64_t first;  ///< first item of the warp
  std::uint64_t n;      ///< items of all warps
  Count const& count;   ///< argument of `allocate_async`
};

/// Output of elements by `element(i, k)`, which the library writes.
template <class T, class Element>
struct emit_elements {
  output_ref<T> out;     ///< output of the elements
  Element element;       ///< argument of `allocate_async`
  long_tiles long_ones;  ///< list for warps with more elements than one warp should write

  /// Shared memory of a warp.
  template <unsigned Items>
  struct storage {
    typename warp_items<Items>::storage items;  ///< storage of the items
    typename item_values<Element, warp_items<Items>::size>::storage
        values;  ///< values of the items
  };
  /// Elements of a part of a long tile: several windows, because the warp counts all items for each
  /// part.
  template <unsigned Items>
  static constexpr std::uint32_t part = 4 * warp_items<Items>::window;

  /// Does the work that needs no places. Collective over the warp.
  template <unsigned Items, class Count>
  WARDEN_DEVICE listed_items prepare(storage<Items>& shared, warp_items<Items>& items,
                                     counted_items<Count> const& range) const {
    auto const asked = values<Items>::ask(range.first, range.n, element);
    items.take();
    values<Items>::keep(shared.values, asked);
    return items.list();
  }
  /// Writes the elements that fit, or lists the tile as long. Collective over the warp, after
  /// `prepare`.
  template <unsigned Items, class Count>
  WARDEN_DEVICE void write(storage<Items>& shared, warp_items<Items> const& items,
                           listed_items const& listed, counted_items<Count> const& range,
                           std::uint64_t first) const {
    std::uint64_t const elements = that_fit(first, items.total());
    if (elements > long_ones.longest) {
      if (simt::lane_id() == 0) long_ones.add({range.first, first, elements});
    } else if (elements != 0) {  // where nothing fits, `first` may lie far beyond the output
      write_windows<false>(shared, listed, range.first, static_cast<std::uint32_t>(elements),
                           out.data() + first);
    }
  }
  /// Writes `elements` elements from element `begin` on, at most a part, to `to` and the following
  /// places. Collective over the warp. Counts the items again, and asks for their values again.
  template <unsigned Items, class Count>
  WARDEN_DEVICE void write_part(storage<Items>& shared, counted_items<Count> const& range,
                                std::uint64_t begin, std::uint32_t elements, T* to) const {
    warp_items<Items> items{shared.items, range.first, range.n, range.count};
    if (items.total() < begin + elements) {
      if (simt::lane_id() == 0) long_ones.note_change();
      return;
    }
    values<Items>::keep(shared.values, values<Items>::ask(range.first, range.n, element));
    items.take();
    write_windows<true>(shared, items.list_from(begin), range.first, elements, to);
  }

 private:
  template <unsigned Items>
  using values = item_values<Element, warp_items<Items>::size>;

  /// Writes window by window. `AnyPassed`: elements of the first item may come before.
  template <bool AnyPassed, unsigned Items>
  WARDEN_DEVICE void write_windows(storage<Items>& shared, listed_items const& listed,
                                   std::uint64_t first_item, std::uint32_t elements, T* to) const {
    using items = warp_items<Items>;
    auto const* const begun = items::before(shared.items, listed.first) + 1;
    WARDEN_NO_UNROLL
    for (std::uint32_t at = 0; at < elements; at += items::window) {
      unsigned const rank = at == 0 ? listed.first : items::mark(shared.items, listed, at);
      std::uint32_t const left = elements - at;
      element_writer<T, Items>::write(
          shared.items, rank, left < items::window ? left : items::window,
          [&](std::uint32_t const* entry, std::uint32_t x) {
            auto const item = items::item(entry);
            std::uint32_t k = at + x - item.start;
            if (AnyPassed && entry == begun) k += listed.passed;
            return values<Items>::element(shared.values, element, first_item, item.number, k);
          },
          to + at);
    }
  }
  [[nodiscard]] WARDEN_DEVICE std::uint64_t that_fit(std::uint64_t first,
                                                     std::uint64_t total) const {
    if (first >= out.capacity()) return 0;
    std::uint64_t const room = out.capacity() - first;
    return total < room ? total : room;
  }
};

/// Output of places by `write(i, place)`, for items whose elements all fit.
template <class T, class Write>
struct emit_places {
  output_ref<T> out;   ///< output of the elements
  Write write_places;  ///< argument of `allocate_places_async`

  /// Shared memory of a warp.
  template <unsigned Items>
  struct storage {
    typename warp_items<Items>::storage items;  ///< storage of the items
  };

  /// Does the work that needs no places. Collective over the warp.
  template <unsigned Items, class Count>
  WARDEN_DEVICE static listed_items prepare(storage<Items> const&, warp_items<Items>& items,
                                            counted_items<Count> const&) {
    items.take();
    return {};
  }
  /// Passes the places of a warp's items to the caller's function.
  template <unsigned Items, class Count>
  WARDEN_DEVICE void write(storage<Items> const&, warp_items<Items> const& items,
                           listed_items const&, counted_items<Count> const& range,
                           std::uint64_t first) const {
    items.for_mine([&](unsigned item, std::uint64_t before, std::uint32_t count) {
      std::uint64_t const place = first + before;
      if (place + count <= out.capacity()) write_places(range.first + item, place);
    });
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
