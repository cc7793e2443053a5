// SPDX-License-Identifier: Apache-2.0
/// @file
/// Thread of a server that owns a local record.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Owner threads of the local records, by their residue mod `Threads`. With `Scattered` the owners
/// of neighbours are in different warps: sections that send sections differ more, and few hot
/// records then do not delay each other.
template <unsigned Threads, bool Scattered>
struct owner_threads {
  /// Thread that owns the records that are `residue` mod `Threads`.
  WARDEN_DEVICE static unsigned thread_of(unsigned residue) {
    if constexpr (Scattered) {
      return (residue & (warps - 1)) * simt::warp_size + residue / warps;
    } else {
      return residue;
    }
  }
  /// Residue of the records that `thread` owns.
  WARDEN_DEVICE static unsigned residue_of(unsigned thread) {
    if constexpr (Scattered) {
      return thread % simt::warp_size * warps + thread / simt::warp_size;
    } else {
      return thread;
    }
  }

 private:
  static constexpr unsigned warps = Threads / simt::warp_size;
};

}  // namespace detail
WARDEN_NAMESPACE_END
