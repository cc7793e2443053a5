// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counts of a guarded array, if its policy enables them.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Counts of sections on two records of any owners (executor pair_messages), and the total times
/// that they waited. Precondition: no launch is at work, and none was poisoned. A poisoned launch
/// leaves the times meaningless, and the counts as they were when it was stopped. Units:
/// nanoseconds.
struct pair_statistics {
  std::uint64_t pairs;           ///< sections executed
  std::uint64_t apart;           ///< sections on records with two locks
  std::uint64_t first_lock_ns;   ///< waits for the greater lock, after its owner had received them
  std::uint64_t request_ns;      ///< waits with that lock, until the other owner had received them
  std::uint64_t second_lock_ns;  ///< waits with that lock, for the lesser one
  std::uint64_t reply_ns;        ///< waits after they ran, until the greater lock came back
};

/// Totals since the guarded array was made. All zero unless `Policy::statistics`.
struct statistics {
  std::uint64_t messages;  ///< messages accepted by clients; combined sends count once
  std::uint64_t batches;   ///< reservations: one for each batch and destination
  std::uint64_t waits;     ///< times a client ran out of credit and had to refresh it
  std::uint64_t retries;   ///< failed tries for a lock of a server's table
  /// Largest number of slots in use in one channel, seen when its server released some.
  std::uint64_t fullest_channel;
  pair_statistics two_records;  ///< counts of the executor pair_messages
};

WARDEN_NAMESPACE_END
