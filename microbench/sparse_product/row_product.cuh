// SPDX-License-Identifier: Apache-2.0
// Product of a matrix in CSR by rows: a warp for each.
#pragma once

#include "microbench/sparse_product/matrix.hpp"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace sparse_product {

namespace simt = warden::simt;

/// Multiplies by rows, one warp for each row.
template <class View>
WARDEN_KERNEL void multiply_rows(View const m) {
  simt::assume_one_dimension();
  unsigned const lane = simt::lane_id(), warps = simt::block_threads() / simt::warp_size;
  for (std::uint32_t row = simt::block_rank() * warps + simt::warp_rank(); row < m.rows;
       row += simt::block_count() * warps) {
    float sum = 0;
    std::uint32_t const end = m.offsets[row + 1];
    for (std::uint32_t e = m.offsets[row] + lane; e < end; e += simt::warp_size)
      sum += m.values[e] * m.x[m.entry_columns[e]];
    for (unsigned distance = simt::warp_size / 2; distance != 0; distance /= 2)
      sum += simt::shuffle(simt::full_warp, sum, lane ^ distance);
    if (lane == 0) m.y[row] = sum;
  }
}

}  // namespace sparse_product
