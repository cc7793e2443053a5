// SPDX-License-Identifier: Apache-2.0
/// @file
/// Warps' tiles with too many elements for one warp: listed, and written by all warps afterwards.
#pragma once

#include <warden/detail/allocate/allocation_control.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A tile, the items of one warp, that is written later.
struct long_tile {
  std::uint64_t item;      ///< its first one
  std::uint64_t first;     ///< place of its first element
  std::uint64_t elements;  ///< of it, within the capacity
};

/// The list of the long tiles of one `allocate_async`, in device memory. A tile is long with more
/// than `longest` elements. Each takes as many places of the output, so their number is bounded by
/// the capacity, not by the input.
struct long_tiles {
  long_tile* tiles;             ///< the list
  std::uint64_t room;           ///< for so many
  std::uint64_t longest;        ///< elements of a tile that one warp writes, at most
  allocation_control* control;  ///< where they are counted

  /// By one thread. There is room, unless counts changed meanwhile.
  WARDEN_DEVICE void add(long_tile const& tile) const {
    std::uint64_t const at = simt::fetch_add(&control->long_tiles, std::uint64_t{1});
    if (at < room) {
      tiles[at] = tile;
    } else {
      note_change();
    }
  }
  /// Notes that counts changed meanwhile. By one thread.
  WARDEN_DEVICE void note_change() const { simt::fetch_add(&control->changed, std::uint64_t{1}); }
  /// How many there are, in the next kernel.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t size() const {
    return control->long_tiles < room ? control->long_tiles : room;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
