// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiles of warps with too many elements for one warp. They are listed, and written by all warps
/// afterwards.
#pragma once

#include <warden/detail/allocate/allocation_control.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A tile, the items of one warp, that is written later.
struct long_tile {
  std::uint64_t item;      ///< first item
  std::uint64_t first;     ///< place of its first element
  std::uint64_t elements;  ///< number of elements within the capacity
};

/// List of the long tiles of one `allocate_async`, in device memory. A tile is long with more than
/// `longest` elements. Each takes that many places of the output, so their number is bounded by the
/// capacity, not by the input.
struct long_tiles {
  long_tile* tiles;             ///< the list
  std::uint64_t room;           ///< maximum of tiles on the list
  std::uint64_t longest;        ///< maximum of elements of a tile that one warp writes
  allocation_control* control;  ///< counts the tiles

  /// Adds a tile. Called by one thread. There is room, unless counts have changed.
  WARDEN_DEVICE void add(long_tile const& tile) const {
    std::uint64_t const at = simt::fetch_add(&control->long_tiles, std::uint64_t{1});
    if (at < room) {
      tiles[at] = tile;
    } else {
      note_change();
    }
  }
  /// Notes that counts have changed. Called by one thread.
  WARDEN_DEVICE void note_change() const { simt::fetch_add(&control->changed, std::uint64_t{1}); }
  /// Returns the number of tiles. Valid in the next kernel.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t size() const {
    return control->long_tiles < room ? control->long_tiles : room;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
