// SPDX-License-Identifier: Apache-2.0
/// @file
/// What becomes of a tile that has its places: the library writes its elements, or the caller is
/// told the places.
#pragma once

#include <warden/allocate/element_writer.cuh>
#include <warden/allocate/item_tile.cuh>
#include <warden/allocate/long_tiles.cuh>
#include <warden/allocate/output_ref.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A tile with its places.
struct placed_tile {
  std::uint64_t number;  ///< of the tile
  std::uint64_t first;   ///< place of its first element
};

/// Elements by `element(i, k)`, which the library writes.
template <class T, class Element>
struct emit_elements {
  output_ref<T> out;  ///< where to
  Element element;    ///< as `allocate_async` is given it
  long_tiles listed;  ///< for tiles with more elements than a block should write

  /// Of the block's shared memory.
  template <unsigned Threads>
  using storage = typename element_writer<T, Threads>::storage;

  /// Collective: what can be done before places are known.
  template <class Tile>
  WARDEN_DEVICE static void prepare(Tile& tile) {
    tile.list(0);
  }
  /// Collective, after that: writes what fits of a tile, or notes that it is long.
  template <unsigned Threads, unsigned Items>
  WARDEN_DEVICE void tile(item_tile<Threads, Items> const& tile,
                          typename item_tile<Threads, Items>::storage const& items,
                          storage<Threads>& shared, placed_tile at) const {
    std::uint64_t const elements = that_fit(at.first, tile.total());
    if (elements > listed.longest) {
      if (simt::thread_rank() == 0) listed.add({at.number, at.first, elements});
    } else if (elements != 0) {
      element_writer<T, Threads>::template write<item_tile<Threads, Items>>(
          items, tile.emitting(), 0, shared, static_cast<std::uint32_t>(elements),
          at.number * tile.size, element, out.data() + at.first);
    }
  }
  /// Collective: writes `elements` elements of a tile, from its element `begin` on.
  template <unsigned Threads, unsigned Items>
  WARDEN_DEVICE void part(item_tile<Threads, Items>& tile,
                          typename item_tile<Threads, Items>::storage const& items,
                          storage<Threads>& shared, placed_tile at, std::uint64_t begin,
                          std::uint32_t elements) const {
    unsigned const earlier = tile.list(begin);
    element_writer<T, Threads>::template write<item_tile<Threads, Items>>(
        items, tile.emitting(), earlier, shared, elements, at.number * tile.size, element,
        out.data() + at.first + begin);
  }

 private:
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
  output_ref<T> out;  ///< where to
  Write write;        ///< as `allocate_places_async` is given it

  /// Of the block's shared memory.
  template <unsigned Threads>
  struct storage {};

  /// Nothing can be done before places are known.
  template <class Tile>
  WARDEN_DEVICE static void prepare(Tile const&) {}
  /// Tells the places of a tile's items.
  template <unsigned Threads, unsigned Items>
  WARDEN_DEVICE void tile(item_tile<Threads, Items> const& tile,
                          typename item_tile<Threads, Items>::storage const&,
                          storage<Threads> const&, placed_tile at) const {
    tile.for_mine([&](unsigned item, std::uint64_t before, std::uint32_t count) {
      std::uint64_t const place = at.first + before;
      if (place + count <= out.capacity()) write(at.number * tile.size + item, place);
    });
  }
};

WARDEN_NAMESPACE_END
