// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the library's own allocations take of an output.
#pragma once

#include <warden/detail/allocate/output.cuh>
#include <warden/stream.hpp>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The way into an output.
struct allocation_access {
  /// An allocation by one call begins, with so many tiles in order; enqueued. Throws limit_error
  /// and cuda_error.
  template <class T>
  static detail::allocation_memory& begin(output<T>& out, std::uint64_t tiles,
                                          located_stream const& in) {
    out.memory_.begin_async(tiles, in.stream, in.where);
    return out.memory_;
  }
  /// The tiles that it began with.
  template <class T>
  static tile_order order(output<T> const& out, std::uint64_t tiles) {
    return out.memory_.order(tiles, out.limit_);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
