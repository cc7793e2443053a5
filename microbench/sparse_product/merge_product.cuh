// SPDX-License-Identifier: Apache-2.0
// Merge-based product of a matrix in CSR [Green, McColl and Bader 2012; Merrill and Garland 2016]:
// each thread takes the same number of steps of a merge of the rows' ends and the numbers of
// entries, however long the rows are. A step takes the next entry, or ends the row if it has no
// entry left.
#pragma once

#include "microbench/sparse_product/carries.cuh"
#include "microbench/sparse_product/open_sums.cuh"
#include "microbench/sparse_product/search.cuh"

#include <cstdint>

namespace sparse_product {

/// Where the path of the merge crosses a diagonal: rows ended, and entries taken. Their sum is the
/// diagonal.
struct path_point {
  std::uint32_t row, entry;
};
/// Predicate of a search: true if the path has ended a row before the diagonal.
struct has_ended {
  std::uint32_t const* row_ends;
  std::uint32_t diagonal;
  WARDEN_DEVICE bool operator()(std::uint32_t row) const {
    return row_ends[row] <= diagonal - row - 1;
  }
};

/// Tile of `Threads * Steps` steps; see tile_product.
template <unsigned Threads, unsigned Steps>
class merge_tile {
  static constexpr std::uint32_t tile_steps = Threads * Steps;

 public:
  static constexpr unsigned threads = Threads;
  struct storage_type {
    std::uint32_t row_ends[tile_steps + 1];  ///< in entries of the tile
    float products[tile_steps + 1];          ///< the last one is never used
    float sums[tile_steps];                  ///< [row of the tile]
    typename open_sums<Threads>::storage open;
  };
  static std::uint32_t tiles_of(matrix_view const& m) {
    return (m.rows + m.entries + tile_steps - 1) / tile_steps;
  }

  /// Multiplies the tiles from `first` to `end - 1`. A tile begins where the tile before ends.
  static WARDEN_DEVICE void multiply(tile_arguments const& a, std::uint32_t first,
                                     std::uint32_t end, storage_type& storage) {
    path_point begin = cross(a.m, first * tile_steps, 0, a.m.rows);
    for (std::uint32_t tile = first; tile < end; ++tile) {
      std::uint32_t const diagonal = smaller((tile + 1) * tile_steps, a.m.rows + a.m.entries);
      path_point const after =
          cross(a.m, diagonal, begin.row, smaller(begin.row + tile_steps, a.m.rows));
      load(a.m, begin, after, storage);
      simt::sync_block();
      float const left = add(begin, after, storage);
      if (simt::thread_rank() == Threads - 1)
        a.carries[tile] = {after.row < a.m.rows ? after.row : no_row, left};
      simt::sync_block();
      for (unsigned r = simt::thread_rank(); r < after.row - begin.row; r += Threads)
        a.m.y[begin.row + r] = storage.sums[r];
      simt::sync_block();
      begin = after;
    }
  }

 private:
  /// Returns where the path crosses the diagonal, between two rows. Each warp searches by itself,
  /// instead of waiting for one of them.
  static WARDEN_DEVICE path_point cross(matrix_view const& m, std::uint32_t diagonal,
                                        std::uint32_t low, std::uint32_t high) {
    std::uint32_t const least = diagonal > m.entries ? diagonal - m.entries : 0;
    std::uint32_t const row = search_by_warp(low < least ? least : low, smaller(high, diagonal),
                                             has_ended{m.offsets + 1, diagonal});
    return {row, diagonal - row};
  }

  /// Loads the ends of the tile's rows, and of the one that goes on after it, and the products.
  static WARDEN_DEVICE void load(matrix_view const& m, path_point const& begin,
                                 path_point const& after, storage_type& s) {
    unsigned const me = simt::thread_rank();
    std::uint32_t const rows = after.row - begin.row, entries = after.entry - begin.entry;
    constexpr unsigned at_once = 4;
    for (unsigned r = me; r <= rows; r += at_once * Threads) {
      std::uint32_t ends[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k)  // after the last row comes the number of entries
        ends[k] = m.offsets[smaller(begin.row + smaller(r + k * Threads, rows) + 1, m.rows)];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (r + k * Threads <= rows) s.row_ends[r + k * Threads] = ends[k] - begin.entry;
      }
    }
    if (entries == 0) return;
    // Without branches, so that all loads start before the first wait. Threads beyond the end of
    // the tile load its last entry.
    std::uint32_t columns[Steps];
    float products[Steps];
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) {
      std::uint32_t const entry = begin.entry + smaller(k * Threads + me, entries - 1);
      columns[k] = m.entry_columns[entry];
      products[k] = m.values[entry];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) products[k] *= m.x[columns[k]];
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) {
      std::uint32_t const place = k * Threads + me;
      if (place < entries) s.products[place] = products[k];
    }
  }

  /// Adds the products of each row that ends in the tile. Returns, to the last thread, the sum of
  /// the row that goes on.
  static WARDEN_DEVICE float add(path_point const& begin, path_point const& after,
                                 storage_type& s) {
    unsigned const me = simt::thread_rank();
    std::uint32_t const rows = after.row - begin.row, entries = after.entry - begin.entry;
    std::uint32_t const diagonal = smaller(me * Steps, rows + entries),
                        steps = rows + entries - diagonal;
    std::uint32_t const first_row =
        search(diagonal > entries ? diagonal - entries : 0, smaller(diagonal, rows),
               has_ended{s.row_ends, diagonal});
    std::uint32_t row = first_row, entry = diagonal - row;
    float sum = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) {
      if (k >= steps) break;
      if (entry < s.row_ends[row]) {
        sum += s.products[entry++];
      } else {
        s.sums[row++] = sum;
        sum = 0;
      }
    }
    auto const [before, until] = open_sums<Threads>::scan(s.open, {sum, row != first_row});
    // The first row that ended here began before.
    if (row != first_row) s.sums[first_row] += before;
    return until;
  }
};

}  // namespace sparse_product
