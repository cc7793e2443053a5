// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory for hot records and the owners of sections.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/several/hot_records.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Memory of runs with at most `sections` sections and `accesses` accesses.
class owned_memory {
 public:
  owned_memory() = default;
  /// Makes the memory. A record with `hot_accesses` accesses, or with more if there could be too
  /// many of them, is hot. Throws cuda_error when memory is short.
  owned_memory(std::size_t sections, std::size_t accesses, std::uint32_t hot_accesses,
               std::source_location where)
      // Three places of a hot record keep what is known of it.
      : least_{std::max<std::size_t>(
            {hot_accesses, 3, (accesses + most_hot_records - 1) / most_hot_records})},
        records_{accesses / least_ + 1, where},
        owners_{(sections + owner_tile - 1) / owner_tile * (owner_tile / 8), where},
        in_use_{most_owners, where} {}

  /// Returns the device view for owners that have room for `capacity` records each.
  [[nodiscard]] owned_records view(std::uint32_t capacity) const {
    return {records_.data(), owners_.data(), in_use_.data(), static_cast<std::uint32_t>(least_), 0,
            capacity};
  }
  /// Returns the size of the memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return records_.bytes() + owners_.bytes() + in_use_.bytes();
  }

 private:
  std::size_t least_ = 0;
  buffer<owned_record> records_;  ///< [number]
  buffer<std::uint64_t> owners_;  ///< bytes, [section]; whole tiles
  buffer<std::uint32_t> in_use_;  ///< [owner]
};

}  // namespace detail
WARDEN_NAMESPACE_END
