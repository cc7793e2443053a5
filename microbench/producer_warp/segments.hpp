// SPDX-License-Identifier: Apache-2.0
// Runs of a log of messages that are sorted by partition within batches: arms that read them by all
// warps, as deferred runs do, or by a producer warp.
#pragma once

#include "microbench/producer_warp/arms.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace producer_warp {

/// A message of a log, which adds `value` to a record and has an outcome.
struct alignas(16) message {
  std::uint32_t local;  ///< number of the record in its partition
  std::uint32_t index;  ///< place of the outcome
  std::uint64_t value;
};

/// A log and its results, in device memory.
struct segments {
  message* pool;           ///< [batch after batch]
  std::uint16_t* offsets;  ///< [partition + 1][row] begin of a partition's segment in the batch
  std::uint32_t* begins;   ///< [row] place of the batch
  std::uint32_t* sums;     ///< [partition][record] sum of the values, of 32 bits
  std::uint32_t* outcomes;
  std::uint32_t places, rows, partitions;
  std::uint32_t records;  ///< records of a partition
};

/// Names of the arms. In `reader` each warp receives 8 messages a thread. `reader_meets` adds a
/// barrier of the block, which the executor `sorted` has. `producer_N` is that of arm_names.
std::vector<std::string> segment_arm_names();

/// Returns a function that enqueues the arm's work. `stage_bytes` and errors are those of plan_of.
std::function<void()> plan_of_segments(std::string const& arm, segments const& s,
                                       std::uint32_t stage_bytes);

}  // namespace producer_warp
