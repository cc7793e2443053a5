// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded counts when its policy says so.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Totals since the guarded was made. All zero unless `Policy::statistics`.
struct statistics {
  std::uint64_t messages;  ///< accepted by clients; of combined sends there is one for all
  std::uint64_t batches;   ///< reservations: one for each batch and destination
  std::uint64_t waits;     ///< times a client ran out of credit and had to refresh it
  std::uint64_t retries;   ///< failed tries for a lock of a server's table
  /// Most slots seen in use in one channel when its server released some.
  std::uint64_t fullest_channel;
};

WARDEN_NAMESPACE_END
