// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counts of a guarded array, if its policy enables them.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Sections on two records of any owners (executor pair_messages), and how long all of them
/// together waited for what, in nanoseconds, when no launch is under way and none was poisoned:
/// what a poisoned one has begun and not ended leaves the times without meaning, and the counts as
/// they were when it was cut off.
struct pair_statistics {
  std::uint64_t pairs;           ///< executed
  std::uint64_t apart;           ///< number of these on records with two locks
  std::uint64_t first_lock_ns;   ///< for the greater lock, from when its owner had received them
  std::uint64_t request_ns;      ///< with that lock, until the other owner had received them
  std::uint64_t second_lock_ns;  ///< with that lock, for the lesser one
  std::uint64_t reply_ns;        ///< after they ran, until the greater lock came back
};

/// Totals since the guarded array was made. All zero unless `Policy::statistics`.
struct statistics {
  std::uint64_t messages;  ///< accepted by clients; of combined sends there is one for all
  std::uint64_t batches;   ///< reservations: one for each batch and destination
  std::uint64_t waits;     ///< times a client ran out of credit and had to refresh it
  std::uint64_t retries;   ///< failed tries for a lock of a server's table
  /// Most slots seen in use in one channel when its server released some.
  std::uint64_t fullest_channel;
  pair_statistics two_records;  ///< with the executor pair_messages
};

WARDEN_NAMESPACE_END
