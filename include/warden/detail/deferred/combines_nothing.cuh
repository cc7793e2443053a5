// SPDX-License-Identifier: Apache-2.0
/// @file
/// Stands for a batch_combiner in batches that are not combined.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Combiner of sections that are not combined.
struct combines_nothing {
  /// Empty.
  struct storage {};
  /// Empty.
  struct state {};
  static constexpr bool two_widths = false;     ///< see batch_combiner
  static constexpr unsigned partials = 0;       ///< see batch_combiner
  static constexpr unsigned partial_ranks = 0;  ///< see batch_combiner
  using wide_message = std::uint32_t;           ///< never used
};

}  // namespace detail
WARDEN_NAMESPACE_END
