// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counters of one shard of a log.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Counts of a shard in one word: messages of batches in the low half, flat ones in the high half.
struct alignas(64) log_shard {
  std::uint64_t taken;     ///< see above; beyond what the shard has once it is full
  std::uint32_t flat_end;  ///< number of flat messages that have a place, once it is full
  std::uint32_t flat;      ///< while the log is run: flat messages
  std::uint32_t batches;   ///< while the log is run: messages of batches
  std::uint32_t sorted;    ///< number of the oldest flat messages, which a failed run has sorted
};

}  // namespace detail
WARDEN_NAMESPACE_END
