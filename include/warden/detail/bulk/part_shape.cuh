// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sizes and memory of a bulk run on records in parts.
#pragma once

#include <warden/detail/bulk/bulk_arguments.cuh>
#include <warden/detail/execute/is_noop.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads of a block that sorts rows by part, and of a block that plans.
inline constexpr unsigned sort_threads = 1024;
/// Largest number of parts: each thread of a block that sorts has at most one.
inline constexpr unsigned most_parts = 512;
/// Tiles whose rows of one part a warp reads together.
inline constexpr unsigned tiles_together = 16;

/// Returns the rows of a thread in a tile.
WARDEN_HOST_DEVICE constexpr unsigned rows_of_thread(std::size_t bytes) {
  return bytes <= 16 ? 8 : bytes <= 32 ? 4 : 2;
}

/// Tiles of one part that a block combines.
struct part_piece {
  std::uint32_t part;        ///< part of the records
  std::uint32_t first_tile;  ///< first tile
  std::uint32_t end_tile;    ///< tile after the last
};
/// Pieces of one part.
struct part_pieces {
  std::uint32_t first;  ///< first piece
  std::uint32_t count;  ///< number of pieces
};

/// Arguments of the kernels. Rows of a tile are sorted by part: record r is in part r >> shift.
template <class Section, class Partial, class Record, class Context>
struct part_arguments : bulk_arguments<Partial, Record, Context> {
  /// True if sections may be no-ops.
  static constexpr bool has_noops = has_is_noop<Section, Record, Context>;

  std::uint64_t first;       ///< first element of the pass
  std::uint64_t count;       ///< elements of the pass
  std::uint32_t shift;       ///< log2 of the records of a part
  std::uint32_t parts;       ///< number of parts
  std::uint32_t tiles;       ///< number of tiles
  std::uint32_t piece_rows;  ///< most rows of a piece, without its last tile
  Section* sections;         ///< [tile][row] sections
  std::uint16_t* locals;     ///< [tile][row] number of the record in its part
  std::uint16_t* offsets;    ///< [part + 1][tile] first row of the part in the tile
  part_piece* pieces;        ///< [piece] in any order of parts
  part_pieces* pieces_of;    ///< [part] its pieces
  bool filters;              ///< true if the pass leaves out no-op sections

  /// Rows of a tile.
  static constexpr unsigned tile_rows = sort_threads * rows_of_thread(sizeof(Section));
};

}  // namespace detail
WARDEN_NAMESPACE_END
