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

/// Tile of `Threads * Steps` steps; see tile_product.
template <unsigned Threads, unsigned Steps>
class merge_tile {
  static constexpr std::uint32_t tile_steps = Threads * Steps;

 public:
  static constexpr unsigned threads = Threads;
  /// A row's end, counted in entries of the tile; later the sum of the row. Or a product.
  union word {
    std::uint32_t end;
    float value;
  };
  struct storage_type {
    /// The ends of the tile's rows and of the row that goes on after the tile, then the products.
    /// Little memory, because the L1 cache has the rest: it holds a line for each load of x in
    /// progress.
    word words[tile_steps + 2];
    typename open_sums<Threads>::storage open;
  };
  static std::uint32_t tiles_of(matrix_view const& m) {
    return (m.rows + m.entries + tile_steps - 1) / tile_steps;
  }
  /// Returns the number of rows that end before a tile. The number of entries before it is the rest
  /// of its diagonal.
  static WARDEN_DEVICE std::uint32_t first_row(matrix_view const& m, std::uint32_t tile) {
    std::uint32_t const diagonal = diagonal_of(m, tile);
    return rows_ended(diagonal, m.entries, m.rows,
                      [&](std::uint32_t row) { return m.offsets[row + 1]; });
  }

  /// Multiplies a tile.
  static WARDEN_DEVICE void multiply(tile_arguments const& a, std::uint32_t tile,
                                     storage_type& storage) {
    path_point const begin = point(a, tile), after = point(a, tile + 1);
    std::uint32_t const rows = after.row - begin.row;
    load(a.m, begin, after, storage);
    simt::sync_block();
    float const left = add(rows, after.entry - begin.entry, storage);
    if (simt::thread_rank() == Threads - 1)
      a.carries[tile] = {after.row < a.m.rows ? after.row : no_row, left};
    simt::sync_block();
    for (unsigned r = simt::thread_rank(); r < rows; r += Threads)
      a.m.y[begin.row + r] = storage.words[r].value;
  }

 private:
  static WARDEN_DEVICE std::uint32_t diagonal_of(matrix_view const& m, std::uint32_t tile) {
    return smaller(tile * tile_steps, m.rows + m.entries);
  }
  static WARDEN_DEVICE path_point point(tile_arguments const& a, std::uint32_t tile) {
    std::uint32_t const row = a.first_rows[tile];
    return {row, diagonal_of(a.m, tile) - row};
  }
  /// Returns the number of rows that the path ends before a diagonal, among `entries` entries and
  /// `rows` rows. `end(row)` returns the entry after a row.
  template <class End>
  static WARDEN_DEVICE std::uint32_t rows_ended(std::uint32_t diagonal, std::uint32_t entries,
                                                std::uint32_t rows, End const& end) {
    return search(diagonal > entries ? diagonal - entries : 0, smaller(diagonal, rows),
                  [&](std::uint32_t row) { return end(row) <= diagonal - row - 1; });
  }

  /// Loads the ends of the tile's rows, and of the one that goes on after it, and the products.
  static WARDEN_DEVICE void load(matrix_view const& m, path_point const& begin,
                                 path_point const& after, storage_type& s) {
    unsigned const me = simt::thread_rank();
    std::uint32_t const rows = after.row - begin.row, entries = after.entry - begin.entry;
    // All loads start before the first wait.
    std::uint32_t columns[Steps];
    float products[Steps];
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) {
      std::uint32_t const place = k * Threads + me, entry = begin.entry + place;
      columns[k] = 0;
      products[k] = 0;
      if (place < entries) {
        // Each entry is read once: x keeps the caches.
        columns[k] = __ldcs(m.entry_columns + entry);
        products[k] = __ldcs(m.values + entry);
      }
    }
    constexpr unsigned at_once = 2;
    for (unsigned r = me; r <= rows; r += at_once * Threads) {
      std::uint32_t ends[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k)  // after the last row comes the number of entries
        ends[k] = m.offsets[smaller(begin.row + smaller(r + k * Threads, rows) + 1, m.rows)];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (r + k * Threads <= rows) s.words[r + k * Threads].end = ends[k] - begin.entry;
      }
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) products[k] *= m.x[columns[k]];
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) {
      std::uint32_t const place = k * Threads + me;
      if (place < entries) s.words[rows + 1 + place].value = products[k];
    }
  }

  /// Adds the products of each row that ends in the tile, and stores the sum in the place of the
  /// row's end. Returns, to the last thread, the sum of the row that goes on.
  static WARDEN_DEVICE float add(std::uint32_t rows, std::uint32_t entries, storage_type& s) {
    std::uint32_t const diagonal = smaller(simt::thread_rank() * Steps, rows + entries),
                        steps = rows + entries - diagonal;
    std::uint32_t const first_row =
        rows_ended(diagonal, entries, rows, [&](std::uint32_t row) { return s.words[row].end; });
    word const* const products = s.words + rows + 1;
    std::uint32_t row = first_row, entry = diagonal - row, end = s.words[row].end;
    std::uint32_t ended = 0;  // bits of the steps that ended a row
    static_assert(Steps <= 32);
    float sums[Steps], sum = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) {
      if (k < steps) {
        sums[k] = sum;
        if (entry < end) {
          sum += products[entry++].value;
        } else {
          ended |= 1u << k;
          sum = 0;
          end = s.words[++row].end;
        }
      }
    }
    // Its barrier passes before the sums replace the ends.
    auto const [before, until] = open_sums<Threads>::scan(s.open, {sum, ended != 0});
    // The first row that ended here began before.
    float more = before;
    row = first_row;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Steps; ++k) {
      if ((ended >> k & 1) != 0) {
        s.words[row++].value = sums[k] + more;
        more = 0;
      }
    }
    return until;
  }
};

}  // namespace sparse_product
