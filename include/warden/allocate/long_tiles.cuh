// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiles with too many elements for one block: listed, and written by all blocks afterwards.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A tile that is written later.
struct long_tile {
  std::uint64_t tile;      ///< its number
  std::uint64_t first;     ///< place of its first element
  std::uint64_t elements;  ///< of it, within the capacity
};

/// The list of the long tiles of one `allocate_async`, in device memory. A tile is long with more
/// than `longest` elements. Each takes as many places of the output, so their number is bounded by
/// the capacity, not by the input.
struct long_tiles {
  long_tile* tiles;       ///< the list
  std::uint64_t* count;   ///< of tiles on it
  std::uint64_t longest;  ///< elements of a tile that one block writes, at most

  /// By one thread.
  WARDEN_DEVICE void add(long_tile const& tile) const {
    tiles[simt::fetch_add(count, std::uint64_t{1})] = tile;
  }
};

WARDEN_NAMESPACE_END
