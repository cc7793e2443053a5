// SPDX-License-Identifier: Apache-2.0
/// @file
/// Access of the library's own allocations to an output.
#pragma once

#include <warden/detail/allocate/output.cuh>
#include <warden/stream.hpp>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Access to the private members of an output.
struct allocation_access {
  /// Begins an allocation by one call, with `tiles` tiles in order. Enqueued. Throws limit_error
  /// and cuda_error.
  template <class T>
  static detail::allocation_memory& begin(output<T>& out, std::uint64_t tiles,
                                          located_stream const& in) {
    out.memory_.begin_async(tiles, in.stream, in.where);
    return out.memory_;
  }
  /// Returns the tiles of the allocation that began last.
  template <class T>
  static tile_order order(output<T> const& out, std::uint64_t tiles) {
    return out.memory_.order(tiles, out.limit_);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
