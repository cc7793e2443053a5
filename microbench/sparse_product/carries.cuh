// SPDX-License-Identifier: Apache-2.0
// Sums of the entries of a tile, by row: a row that ends in the tile is stored, and the row that
// goes on after the tile leaves a carry, which a second kernel adds.
#pragma once

#include "microbench/sparse_product/matrix.hpp"
#include "microbench/sparse_product/search.cuh"
#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/collective.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstdint>
#include <source_location>

namespace sparse_product {

namespace simt = warden::simt;

/// Number that no row has.
inline constexpr std::uint32_t no_row = ~0u;

WARDEN_DEVICE std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return b < a ? b : a; }

/// Sum that a tile leaves for the row that goes on after it.
struct carry {
  std::uint32_t row;  ///< or no_row
  float sum;
};
/// Returns the sum of two neighbouring carries for the row of `b`.
WARDEN_DEVICE carry joined(carry const& a, carry const& b) {
  return {b.row, a.row == b.row ? a.sum + b.sum : b.sum};
}

struct carry_arguments {
  carry const* carries;  ///< [tile] in the order of their rows
  std::uint32_t n;
  float* y;
};
/// Adds the sum of each row's carries to the row. A block takes `Threads` tiles, and owns the rows
/// whose first carry is in these tiles. So the order of the additions depends on `Threads` alone.
template <unsigned Threads>
WARDEN_KERNEL void add_carries(carry_arguments const a) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  using block_scan = simt::block_scan_by<carry, Threads>;
  struct storage_type {
    typename block_scan::storage scan;
    float sum;  ///< sum of the last thread
  };
  WARDEN_SHARED(storage_type, storage);
  unsigned const me = simt::thread_rank();
  // Returns the sum of the carries of the thread's row, up to the thread's.
  auto const sum_until_mine = [&](carry const& mine) {
    auto const join = [](carry const& x, carry const& y) { return joined(x, y); };
    carry const before = block_scan::exclusive(storage.scan, mine, join);
    float const sum = me == 0 ? mine.sum : joined(before, mine).sum;
    if (me == Threads - 1) storage.sum = sum;
    simt::sync_block();
    return sum;
  };
  for (std::uint32_t first = simt::block_rank() * Threads; first < a.n;
       first += simt::block_count() * Threads) {
    std::uint32_t const i = first + me, next = first + Threads;
    auto const is_owned = [&](std::uint32_t row) {
      return row != no_row && (first == 0 || a.carries[first - 1].row != row);
    };
    carry const mine = i < a.n ? a.carries[i] : carry{no_row, 0};
    float const sum = sum_until_mine(mine);
    bool const goes_on = i + 1 < a.n && a.carries[i + 1].row == mine.row;
    if (is_owned(mine.row) && !goes_on) a.y[mine.row] += sum;
    // The last row may go on in many tiles after these.
    std::uint32_t const row = next < a.n ? a.carries[next].row : no_row;
    if (is_owned(row) && a.carries[next - 1].row == row) {
      std::uint32_t const end =
          search_by_warp(next, a.n, [&](std::uint32_t at) { return a.carries[at].row == row; });
      float const of_first = storage.sum;
      float rest = 0;
      for (std::uint32_t at = next + me; at < end; at += Threads) rest += a.carries[at].sum;
      simt::sync_block();
      sum_until_mine({row, rest});
      if (me == 0) a.y[row] += of_first + storage.sum;
    }
    simt::sync_block();
  }
}

struct tile_arguments {
  matrix_view m;
  carry* carries;  ///< [tile]
  std::uint32_t tiles;
  std::uint32_t const* first_rows;  ///< [tiles + 1] see Tile::first_row, or null
};
/// Finds the first rows of all tiles.
template <class Tile>
WARDEN_KERNEL void find_first_rows(matrix_view const m, std::uint32_t tiles,
                                   std::uint32_t* first_rows) {
  simt::assume_one_dimension();
  bench::for_each_of(tiles + 1, [&](std::uint64_t tile) {
    first_rows[tile] = Tile::first_row(m, static_cast<std::uint32_t>(tile));
  });
}
/// Multiplies all tiles. Any grid.
template <class Tile>
WARDEN_KERNEL void multiply_tiles(tile_arguments const a) {
  simt::assume_one_dimension();
  WARDEN_SHARED(typename Tile::storage_type, storage);
  for (std::uint32_t tile = simt::block_rank(); tile < a.tiles; tile += simt::block_count()) {
    Tile::multiply(a, tile, storage);
    simt::sync_block();
  }
}

/// Product of a matrix by tiles. A `Tile` has `threads`, `storage_type`, `tiles_of(matrix_view)`,
/// and `multiply(tile_arguments, tile, storage)`, which multiplies a tile and notes its carry. If
/// it has `first_row(matrix_view, tile)`, the constructor finds the first rows of all tiles, as
/// cuSPARSE's analysis does: outside of measured times, because they depend only on the places of
/// the entries.
template <class Tile>
class tile_product {
  static constexpr bool has_first_rows = requires(matrix_view const& m) { Tile::first_row(m, 0u); };

 public:
  /// `blocks`: largest number of blocks of a launch; 0: one for each tile.
  explicit tile_product(matrix_view const& m, unsigned blocks = 0)
      : m_{m},
        carries_{Tile::tiles_of(m)},
        first_rows_{has_first_rows ? carries_.size() + 1 : 0},
        blocks_{blocks != 0 ? blocks : tiles()},
        adding_blocks_{blocks != 0 ? blocks : resident_blocks(&add_carries<Tile::threads>)} {
    if constexpr (has_first_rows) {
      auto const [helpers, threads] = bench::shape_of_helpers();
      warden::launch(&find_first_rows<Tile>, helpers, threads, {}, m_, tiles(), first_rows_.data());
    }
  }

  /// Enqueues the product. The second kernel adds to elements of y that the first one has stored.
  void run_async() const {
    constexpr unsigned threads = Tile::threads;
    simt::launch(&multiply_tiles<Tile>, std::min(blocks_, tiles()), threads, 0,
                 {m_, carries_.data(), tiles(), first_rows_.data()}, {});
    carry_arguments a{carries_.data(), tiles(), m_.y};
    void* arguments[] = {&a};
    unsigned const blocks = std::min(adding_blocks_, (tiles() + threads - 1) / threads);
    warden::runtime::launch(simt::make_kernel(&add_carries<threads>),
                            warden::runtime::early_launch(blocks, threads, 0), arguments, {},
                            std::source_location::current());
  }

 private:
  template <class Argument>
  static unsigned resident_blocks(void (*kernel)(Argument)) {
    return static_cast<unsigned>(
        warden::runtime::resident_blocks(simt::make_kernel(kernel), Tile::threads, 0));
  }
  [[nodiscard]] std::uint32_t tiles() const { return static_cast<std::uint32_t>(carries_.size()); }

  matrix_view m_;
  warden::buffer<carry> carries_;
  warden::buffer<std::uint32_t> first_rows_;
  unsigned blocks_, adding_blocks_;
};

}  // namespace sparse_product
