// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sizes of the tables that hold the partials of a bulk run.
#pragma once

#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sizes of a block's tables, chosen by the host.
struct bulk_shape {
  std::uint32_t records;  ///< cells of a table
  unsigned threads;       ///< threads of a block
  /// Cells of a warp's own table in a block_table: 0 or a power of two. Copies of a record's cell
  /// in a word_table: a power of two, at most one for each lane of a warp.
  unsigned places;

  /// Returns the warps of a block.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr unsigned warps() const {
    return threads / simt::warp_size;
  }
};

/// Partials that a block leaves in global memory.
template <class Partial>
struct block_partials {
  Partial* partials;       ///< [record]
  unsigned char* present;  ///< [record] 1 if there is a partial, otherwise 0

  /// Writes the partial of a record, if there is one.
  WARDEN_DEVICE void put(std::uint32_t record, partial_sum<Partial> const& sum) const {
    if (sum.is_present) partials[record] = sum.words.value();
    present[record] = sum.is_present ? 1 : 0;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
