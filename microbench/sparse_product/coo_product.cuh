// SPDX-License-Identifier: Apache-2.0
// Products of a matrix in COO: an atomic for each entry; and sums by row of neighbouring entries,
// which are in the order of their rows.
#pragma once

#include "microbench/sparse_product/carries.cuh"
#include "microbench/support/device.cuh"

#include <cstdint>

namespace sparse_product {

/// Precondition: y is 0.
template <class View>
WARDEN_KERNEL void multiply_by_atomics(View const m) {
  simt::assume_one_dimension();
  bench::for_each_of(m.entries, [&](std::uint64_t e) {
    simt::fetch_add(m.y + m.entry_rows[e], m.values[e] * m.x[m.entry_columns[e]]);
  });
}

/// Tile of `Threads * Entries` entries; see tile_product. Precondition: y is 0.
template <unsigned Threads, unsigned Entries>
class coo_tile {
  static constexpr std::uint32_t tile_entries = Threads * Entries;
  using block_scan = simt::block_scan_by<open_sum, Threads>;

 public:
  static constexpr unsigned threads = Threads;
  struct storage_type {
    std::uint32_t rows[tile_entries + 1];  ///< with the row of the next entry, or no_row
    float products[tile_entries];
    typename block_scan::storage scan;
  };
  static std::uint32_t tiles_of(matrix_view const& m) {
    return (m.entries + tile_entries - 1) / tile_entries;
  }

  static WARDEN_DEVICE void multiply(tile_arguments const& a, std::uint32_t first,
                                     std::uint32_t end, storage_type& storage) {
    for (std::uint32_t tile = first; tile < end; ++tile) {
      std::uint32_t const begin = tile * tile_entries,
                          entries = smaller(tile_entries, a.m.entries - begin);
      load(a.m, begin, entries, storage);
      simt::sync_block();
      open_sum const left = add(entries, a.m.y, storage);
      // If a row ends with the tile, 0 is left to the next one.
      if (simt::thread_rank() == Threads - 1) a.carries[tile] = {storage.rows[entries], left.sum};
      simt::sync_block();
    }
  }

 private:
  static WARDEN_DEVICE void load(matrix_view const& m, std::uint32_t begin, std::uint32_t entries,
                                 storage_type& s) {
    unsigned const me = simt::thread_rank();
    // All loads start before the first wait.
    std::uint32_t rows[Entries], columns[Entries];
    float products[Entries];
    WARDEN_UNROLL
    for (unsigned k = 0; k < Entries; ++k) {
      std::uint32_t const place = k * Threads + me, entry = begin + place;
      rows[k] = place < entries ? m.entry_rows[entry] : no_row;
      columns[k] = place < entries ? m.entry_columns[entry] : 0;
      products[k] = place < entries ? m.values[entry] : 0;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < Entries; ++k)
      products[k] *= k * Threads + me < entries ? m.x[columns[k]] : 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Entries; ++k) {
      s.rows[k * Threads + me] = rows[k];
      s.products[k * Threads + me] = products[k];
    }
    // After the entries of a tile that is not full there is no_row already.
    if (me == 0 && entries == tile_entries)
      s.rows[entries] = begin + entries < m.entries ? m.entry_rows[begin + entries] : no_row;
  }

  /// Adds the products of each row that ends in the tile. Returns, to the last thread, the sum of
  /// the row that goes on.
  static WARDEN_DEVICE open_sum add(std::uint32_t entries, float* y, storage_type& s) {
    unsigned const me = simt::thread_rank();
    std::uint32_t first_row = 0;
    float first_sum = 0;  // sum of the row that began earlier
    open_sum mine{0, 0};
    WARDEN_UNROLL
    for (unsigned k = 0; k < Entries; ++k) {
      std::uint32_t const place = me * Entries + k;
      if (place >= entries) continue;
      mine.sum += s.products[place];
      std::uint32_t const row = s.rows[place];
      if (row == s.rows[place + 1]) continue;
      if (mine.has_end != 0) {
        y[row] = mine.sum;
      } else {
        first_row = row;
        first_sum = mine.sum;
      }
      mine = {0, 1};
    }
    auto const join = [](open_sum const& x, open_sum const& y) { return joined(x, y); };
    open_sum before = block_scan::exclusive(s.scan, mine, join);
    if (me == 0) before = {0, 0};
    if (mine.has_end != 0) y[first_row] = before.sum + first_sum;
    return joined(before, mine);
  }
};

}  // namespace sparse_product
