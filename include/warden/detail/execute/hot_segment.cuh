// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finds the record that has most of the sections of a partition, if one has.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The record with most of a partition's sections, by a majority vote [Boyer and Moore 1981] of
/// windows. A window votes by as many sections as its longest segment has, if that is more than
/// half of the window. So at most one thread of a window votes, and most windows of evenly hit
/// records do not. Its alignment keeps that of the records after it in shared memory, which the
/// compiler then loads 16 bytes at a time.
struct alignas(16) hot_segment {
  std::uint32_t local = 0;     ///< the record's number in its partition
  std::uint32_t lead = 0;      ///< votes for the record, less those for others
  std::uint32_t sections = 0;  ///< votes for the record since it was chosen
  bool is_now = false;         ///< true if the last window voted, by many sections
  std::uint32_t all = 0;       ///< sections of all windows

  /// Votes for a record.
  WARDEN_DEVICE void vote(std::uint32_t for_record, std::uint32_t votes) {
    if (for_record == local) {
      lead += votes;
      sections += votes;
    } else if (lead >= votes) {
      lead -= votes;
    } else {
      local = for_record;
      lead = votes - lead;
      sections = votes;
    }
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
