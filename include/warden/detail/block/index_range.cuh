// SPDX-License-Identifier: Apache-2.0
/// @file
/// Range of the indexes of a loop. A run of many elements enqueues one range after another.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Indexes from `begin` up to, and not including, `end`.
struct index_range {
  std::uint64_t begin;  ///< first index
  std::uint64_t end;    ///< index after the last one

  /// Returns the number of indexes.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::uint64_t count() const { return end - begin; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
