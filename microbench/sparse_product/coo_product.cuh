// SPDX-License-Identifier: Apache-2.0
// Products of a matrix in COO: an atomic for each entry; and sums by row of neighbouring entries,
// which are in the order of their rows.
#pragma once

#include "microbench/sparse_product/carries.cuh"
#include "microbench/sparse_product/open_sums.cuh"
#include "microbench/support/device.cuh"

#include <cstdint>

namespace sparse_product {

/// Adds each product to its row by an atomic. Precondition: y is 0.
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

 public:
  static constexpr unsigned threads = Threads;
  struct storage_type {
    std::uint32_t rows[tile_entries + 1];  ///< with the row of the next entry, or no_row
    float products[tile_entries];
    typename open_sums<Threads>::storage open;
  };
  static std::uint32_t tiles_of(matrix_view const& m) {
    return (m.entries + tile_entries - 1) / tile_entries;
  }

  static WARDEN_DEVICE void multiply(tile_arguments const& a, std::uint32_t tile,
                                     storage_type& storage) {
    std::uint32_t const begin = tile * tile_entries,
                        entries = smaller(tile_entries, a.m.entries - begin);
    load(a.m, begin, entries, storage);
    simt::sync_block();
    float const left = add(entries, a.m.y, storage);
    // If a row ends with the tile, 0 is left to the next one.
    if (simt::thread_rank() == Threads - 1) a.carries[tile] = {storage.rows[entries], left};
  }

 private:
  static WARDEN_DEVICE void load(matrix_view const& m, std::uint32_t begin, std::uint32_t entries,
                                 storage_type& s) {
    unsigned const me = simt::thread_rank();
    // Without branches, so that all loads start before the first wait. Threads beyond the end of
    // the tile load its last entry.
    std::uint32_t rows[Entries], columns[Entries];
    float products[Entries];
    WARDEN_UNROLL
    for (unsigned k = 0; k < Entries; ++k) {
      std::uint32_t const entry = begin + smaller(k * Threads + me, entries - 1);
      columns[k] = m.entry_columns[entry];
      products[k] = m.values[entry];
      rows[k] = m.entry_rows[entry];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < Entries; ++k) products[k] *= m.x[columns[k]];
    WARDEN_UNROLL
    for (unsigned k = 0; k < Entries; ++k) {
      std::uint32_t const place = k * Threads + me;
      s.rows[place] = place < entries ? rows[k] : no_row;
      s.products[place] = products[k];
    }
    // In a tile that is not full no_row is there already.
    if (me == 0 && entries == tile_entries)
      s.rows[entries] = begin + entries < m.entries ? m.entry_rows[begin + entries] : no_row;
  }

  /// Adds the products of each row that ends in the tile. Returns, to the last thread, the sum of
  /// the row that goes on.
  static WARDEN_DEVICE float add(std::uint32_t entries, float* y, storage_type& s) {
    std::uint32_t const first = simt::thread_rank() * Entries;
    std::uint32_t const first_row = s.rows[first];
    float first_sum = 0, sum = 0;
    bool has_end = false;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Entries; ++k) {
      if (first + k >= entries) break;
      sum += s.products[first + k];
      std::uint32_t const row = s.rows[first + k];
      if (row == s.rows[first + k + 1]) continue;
      if (has_end) {
        y[row] = sum;
      } else {
        first_sum = sum;
      }
      has_end = true;
      sum = 0;
    }
    auto const [before, until] = open_sums<Threads>::scan(s.open, {sum, has_end});
    // The first row that ended here began before.
    if (has_end) y[first_row] = before + first_sum;
    return until;
  }
};

}  // namespace sparse_product
