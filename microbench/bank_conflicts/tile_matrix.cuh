// SPDX-License-Identifier: Apache-2.0
// Parts that all sorts of a tile by a warp share.
#pragma once

#include "microbench/bank_conflicts/arms.hpp"

#include <warden/cuda_names.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

namespace bank_conflicts {

namespace simt = warden::simt;

/// Matrix of keys of a warp in shared memory. Columns are always without bank conflicts: lane l
/// has column l, which lies in bank l, or moves by one bank with each row.
template <unsigned Pitch>
struct matrix {
  static constexpr unsigned words = side * Pitch;
  std::uint32_t* memory;
  __device__ std::uint32_t& at(unsigned row, unsigned column) const {
    return memory[row * Pitch + column];
  }
};

/// Sorts keys in registers by Batcher's odd-even merge sort, which does the same steps for all
/// keys.
__device__ inline void sort_registers(std::uint32_t (&keys)[side]) {
  WARDEN_UNROLL
  for (unsigned run = 1; run < side; run *= 2) {
    WARDEN_UNROLL
    for (unsigned step = run; step != 0; step /= 2) {
      WARDEN_UNROLL
      for (unsigned i = 0; i + step < side; ++i) {
        unsigned const first = step % run;
        if (i < first || (i - first) / step % 2 != 0 || i / (2 * run) != (i + step) / (2 * run))
          continue;
        std::uint32_t const low = keys[i] < keys[i + step] ? keys[i] : keys[i + step];
        keys[i + step] = keys[i] < keys[i + step] ? keys[i + step] : keys[i];
        keys[i] = low;
      }
    }
  }
}

inline constexpr unsigned warps_a_block = 4;

/// Sorts tiles, each by one warp. `Sort::run(matrix<Sort::pitch>, lane)` sorts the rows, one after
/// another.
template <class Sort>
WARDEN_KERNEL void sort_by_warps(tiles const a) {
  simt::assume_one_dimension();
  using tile_matrix = matrix<Sort::pitch>;
  WARDEN_SHARED(std::uint32_t[warps_a_block][tile_matrix::words], memory);
  tile_matrix const m{memory[simt::warp_rank()]};
  unsigned const lane = simt::lane_id();
  for (std::uint64_t tile = simt::block_rank() * warps_a_block + simt::warp_rank(); tile < a.count;
       tile += std::uint64_t{simt::block_count()} * warps_a_block) {
    std::uint32_t const* const from = a.keys + tile * tile_keys;
    std::uint32_t* const to = a.sorted + tile * tile_keys;
    for (unsigned row = 0; row < side; ++row) m.at(row, lane) = from[row * side + lane];
    simt::sync_warp(simt::full_warp);
    Sort::run(m, lane);
    for (unsigned row = 0; row < side; ++row) to[row * side + lane] = m.at(row, lane);
    simt::sync_warp(simt::full_warp);
  }
}

}  // namespace bank_conflicts
