// SPDX-License-Identifier: Apache-2.0
/// @file
/// Owners that there are not, noted by a partition.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Elements whose owner is none, in device memory; zero at first.
struct misplaced_owners {
  std::uint64_t count;  ///< of such elements
  std::uint64_t first;  ///< the first of them and its owner, 32 bits each, inverted

  /// By any thread.
  WARDEN_DEVICE void note(std::uint32_t element, std::uint32_t owner) {
    simt::fetch_add(&count, std::uint64_t{1});
    simt::fetch_max(&first, ~(std::uint64_t{element} << 32 | owner));
  }
  /// The first element.
  [[nodiscard]] std::uint32_t first_element() const {
    return static_cast<std::uint32_t>(~first >> 32);
  }
  /// What it said its owner was.
  [[nodiscard]] std::uint32_t its_owner() const { return static_cast<std::uint32_t>(~first); }
};

}  // namespace detail
WARDEN_NAMESPACE_END
