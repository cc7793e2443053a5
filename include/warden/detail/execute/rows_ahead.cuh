// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rows of the next sections of a segment, which are loaded while one section runs.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <bit>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Rows of a group's next sections. A section waits for its own row alone, and the sections of a
/// hot record run one after another: without rows ahead each would take the latency of memory.
///
/// The rows are in registers, by plain loads. A hot record's sections wait for them less than for
/// their own shuffles and arithmetic, so bulk copies to shared memory would gain little.
///
/// `Bytes` of rows for each lane, if these are 2 to 8 rows.
template <has_row Section, unsigned Bytes = 32>
class rows_ahead {
 public:
  /// Lane's part of a row.
  using part = row_part_of<Section>;
  /// Rows at a time, a power of two and at most one for each lane. Few, because several blocks of a
  /// run share the registers of a multiprocessor.
  static constexpr unsigned count = std::min(
      group_size_of<Section>, std::bit_floor(std::clamp<unsigned>(Bytes / sizeof(part), 2, 8)));

  /// Starts to load a row in place `k`. The row there before was taken. All lanes call it.
  WARDEN_DEVICE void start(unsigned k, row_of<Section> const& row) {
    parts_[k] = row.load(lane_group<group_size_of<Section>>{});
  }
  /// Returns the row in place `k`.
  [[nodiscard]] WARDEN_DEVICE part const& take(unsigned k) const { return parts_[k]; }

 private:
  part parts_[count];
};

}  // namespace detail
WARDEN_NAMESPACE_END
