// SPDX-License-Identifier: Apache-2.0
// Sums of the entries of a tile, by row: a row that ends in the tile is stored, and the row that
// goes on after the tile leaves a carry, which a second kernel adds.
#pragma once

#include "microbench/sparse_product/matrix.hpp"
#include "microbench/sparse_product/search.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/collective.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstdint>

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
};
/// A block multiplies neighbouring tiles.
template <class Tile>
WARDEN_KERNEL void multiply_tiles(tile_arguments const a) {
  simt::assume_one_dimension();
  WARDEN_SHARED(typename Tile::storage_type, storage);
  std::uint32_t const share = (a.tiles + simt::block_count() - 1) / simt::block_count(),
                      first = simt::block_rank() * share, end = smaller(first + share, a.tiles);
  if (first < end) Tile::multiply(a, first, end, storage);
}

/// Product of a matrix by tiles. A `Tile` has `threads`, `storage_type`, `tiles_of(matrix_view)`,
/// and `multiply(tile_arguments, first, end, storage)`, which multiplies the tiles from `first` to
/// `end - 1` and notes their carries.
template <class Tile>
class tile_product {
 public:
  /// `blocks`: largest number of blocks of a launch; 0: as many as are resident together.
  explicit tile_product(matrix_view const& m, unsigned blocks = 0)
      : m_{m},
        carries_{Tile::tiles_of(m)},
        blocks_{chosen(blocks, &multiply_tiles<Tile>)},
        adding_blocks_{chosen(blocks, &add_carries<Tile::threads>)} {}

  /// Enqueues the product. The second kernel adds to elements of y that the first one has stored.
  void run_async() const {
    constexpr unsigned threads = Tile::threads;
    auto const tiles = static_cast<std::uint32_t>(carries_.size());
    simt::launch(&multiply_tiles<Tile>, std::min(blocks_, tiles), threads, 0,
                 {m_, carries_.data(), tiles}, {});
    simt::launch(&add_carries<threads>, std::min(adding_blocks_, (tiles + threads - 1) / threads),
                 threads, 0, {carries_.data(), tiles, m_.y}, {});
  }

 private:
  template <class Argument>
  static unsigned chosen(unsigned blocks, void (*kernel)(Argument)) {
    return blocks != 0 ? blocks
                       : static_cast<unsigned>(warden::runtime::resident_blocks(
                             simt::make_kernel(kernel), Tile::threads, 0));
  }

  matrix_view m_;
  warden::buffer<carry> carries_;
  unsigned blocks_, adding_blocks_;
};

}  // namespace sparse_product
