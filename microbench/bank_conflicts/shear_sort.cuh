// SPDX-License-Identifier: Apache-2.0
// ShearSort of a tile by a warp, with three layouts of the tile in shared memory.
#pragma once

#include "microbench/bank_conflicts/tile_matrix.cuh"

#include <cstdint>

namespace bank_conflicts {

/// Sorts the vector of the calling lane, downwards if `falls`. `place(i)` is its i-th element.
template <class Place>
__device__ void sort_vector(bool falls, Place place) {
  // Complements have the opposite order.
  std::uint32_t const flip = falls ? ~0u : 0u;
  std::uint32_t keys[side];
  WARDEN_UNROLL
  for (unsigned i = 0; i < side; ++i) keys[i] = place(i) ^ flip;
  sort_registers(keys);
  WARDEN_UNROLL
  for (unsigned i = 0; i < side; ++i) place(i) = keys[i] ^ flip;
}

/// Rows are read as they lie: with 32 words a row all lanes want one bank, with 33 all want
/// different ones.
template <unsigned Pitch>
struct in_rows {
  static constexpr unsigned pitch = Pitch;
  __device__ static void sort_rows(matrix<Pitch> const& m, unsigned lane, bool alternate) {
    sort_vector(alternate && lane % 2 != 0,
                [&](unsigned i) -> std::uint32_t& { return m.at(lane, i); });
  }
};
/// Rows become columns, are sorted, and become rows again [Sitchinava and Weichert, Provably
/// Efficient GPU Algorithms].
struct by_transposition {
  static constexpr unsigned pitch = side;
  /// In step d each lane l exchanges the elements (l, l + d) and (l + d, l). Their banks are l + d
  /// and l, different for all lanes.
  __device__ static void transpose(matrix<side> const& m, unsigned lane) {
    for (unsigned d = 1; d <= side / 2; ++d) {
      unsigned const other = (lane + d) % side;
      // The last step has each pair twice.
      if (d == side / 2 && lane >= side / 2) continue;
      std::uint32_t const above = m.at(lane, other);
      std::uint32_t const below = m.at(other, lane);
      m.at(lane, other) = below;
      m.at(other, lane) = above;
    }
    simt::sync_warp(simt::full_warp);
  }
  __device__ static void sort_rows(matrix<side> const& m, unsigned lane, bool alternate) {
    transpose(m, lane);
    sort_vector(alternate && lane % 2 != 0,
                [&](unsigned i) -> std::uint32_t& { return m.at(i, lane); });
    simt::sync_warp(simt::full_warp);
    transpose(m, lane);
  }
};

/// Layout: how rows are sorted.
template <class Layout>
struct shear_sort {
  static constexpr unsigned pitch = Layout::pitch;
  __device__ static void run(matrix<pitch> const& m, unsigned lane) {
    // Each round halves the number of rows that hold both large and small keys.
    for (unsigned dirty_rows = side; dirty_rows > 1; dirty_rows /= 2) {
      Layout::sort_rows(m, lane, true);
      simt::sync_warp(simt::full_warp);
      sort_vector(false, [&](unsigned i) -> std::uint32_t& { return m.at(i, lane); });
      simt::sync_warp(simt::full_warp);
    }
    Layout::sort_rows(m, lane, false);
    simt::sync_warp(simt::full_warp);
  }
};

}  // namespace bank_conflicts
