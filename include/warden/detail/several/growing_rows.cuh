// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places of the rows that sections append to an array. They are found before the sections run.
///
/// The rows of a section follow those of all sections before it, whether these commit or not. So
/// the places depend on the order of the sections only. One kernel stores, for each section, the
/// rows appended before it in its warp, and for each warp its rows. A second kernel computes prefix
/// sums over the warps.
#pragma once

#include <warden/detail/block/warp_scan.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Rows of one section.
struct appended_rows {
  std::uint64_t place;  ///< index of the first one in the array
  std::uint32_t count;
};

/// Memory for the rows of one array, during a run.
struct growing_rows {
  /// Bits of a section's number of rows.
  static constexpr unsigned count_bits = 13;
  /// Largest number of rows that a section appends to an array. The rows before it in its warp fit
  /// the other bits.
  static constexpr std::uint32_t most = (1u << count_bits) - 1;

  std::uint32_t* in_use;    ///< rows that the array has
  std::uint32_t* sections;  ///< [section] rows before it in its warp, and its own rows
  std::uint64_t* warps;     ///< [warp] rows; later rows before it. One more at the end: all rows.

  /// Returns the warps that handle this many sections.
  [[nodiscard]] WARDEN_HOST_DEVICE static std::uint32_t warps_of(std::uint32_t section_count) {
    return (section_count + simt::warp_size - 1) / simt::warp_size;
  }
  /// Stores the rows of section `i`, which is 32 times the warp plus the lane. Collective over the
  /// warp.
  WARDEN_DEVICE void store_count(std::uint32_t i, std::uint32_t own,
                                 std::uint32_t section_count) const {
    std::uint32_t const before = warp_sum_before(own), warp = i / simt::warp_size;
    if (i < section_count) sections[i] = before << count_bits | own;
    if (simt::lane_id() == simt::warp_size - 1 && warp < warps_of(section_count))
      warps[warp] = before + own;
  }
  /// Turns the rows of all warps of a run with this many sections into the rows before them.
  /// Collective over one warp.
  WARDEN_DEVICE void scan_warps(std::uint32_t section_count) const {
    std::uint32_t const warp_count = warps_of(section_count);
    constexpr unsigned each = 8;
    std::uint64_t before = 0;
    for (std::uint32_t first = 0; first < warp_count; first += each * simt::warp_size) {
      std::uint32_t const mine = first + each * simt::lane_id();
      std::uint64_t rows[each], sum = 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) rows[k] = mine + k < warp_count ? warps[mine + k] : 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) sum += rows[k];
      std::uint64_t const lanes = warp_sum_before(sum);
      std::uint64_t next = before + lanes;
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        if (mine + k < warp_count) warps[mine + k] = next;  // mutation: several-place
        next += rows[k];
      }
      before = simt::shuffle(simt::full_warp, next, simt::warp_size - 1);
    }
    if (simt::lane_id() == 0) warps[warp_count] = before;
  }
  /// Returns the rows of a run with this many sections. Precondition: `scan_warps` was called.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t total(std::uint32_t section_count) const {
    return warps[warps_of(section_count)];
  }
  /// Returns the rows of a section. Precondition: `scan_warps` was called.
  [[nodiscard]] WARDEN_DEVICE appended_rows rows_of(std::uint32_t section) const {
    std::uint32_t const stored = sections[section];
    return {*in_use + warps[section / simt::warp_size] + (stored >> count_bits), stored & most};
  }
  /// Notes that the rows of a section are written, or their places cleared. `rows_of` then returns
  /// none.
  WARDEN_DEVICE void settle(std::uint32_t section) const { sections[section] = 0; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
