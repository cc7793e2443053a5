// SPDX-License-Identifier: Apache-2.0
/// @file
/// The array of one guarded array as the workers of a deferred run see it: records by partition,
/// and their use.
#pragma once

#include <warden/detail/execute/guarded_health.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Device view of a guarded array's records, their report and their partitions. Passed to kernels
/// by value.
template <class Record>
struct run_array {
  Record* records = nullptr;         ///< [size] records in global memory
  std::uint64_t size = 0;            ///< records
  guarded_report* report = nullptr;  ///< report of the guarded array, in global memory
  std::uint32_t* at_work = nullptr;  ///< not 0 while the records of the guarded array are in use
  guarded_health* health =
      nullptr;               ///< health of the guarded array if a run may fail; null otherwise
  partition_map owners{};    ///< map from record id to partition and number there
  std::uint32_t locals = 0;  ///< largest number of records of a partition

  /// Returns the record with a partition's local number, in global memory.
  WARDEN_DEVICE Record* record_of(std::uint32_t partition, std::uint32_t local) const {
    return records + owners.id({partition, local});
  }

  /// True if the guarded array has a failure to report. Until its `wait` has reported it, no run
  /// begins that could fail itself.
  WARDEN_DEVICE bool has_failed() const { return health != nullptr && is_poisoned(health); }
  /// Marks the records as a run's. Returns false, and marks nothing, if they are in use or the
  /// guarded array has a failure to report. One thread. The writes of the run or launch that had
  /// the records before are visible to this thread, and to the kernels after this one in its
  /// stream.
  WARDEN_DEVICE bool take() const {
    if (has_failed()) return false;
    if (simt::compare_exchange(at_work, 0u, 1u) != 0) return false;  // mutation: run-amid
    // Acquire. The other side is the thread that called `free` in a kernel of another stream: it
    // fenced after all writes of the run, and stored the 0 that this thread has read.
    simt::fence_device();  // mutation: run-acquire
    return true;
  }
  /// Marks the records as free. The thread that took them calls it, or one of a later kernel.
  /// Precondition: the caller has fenced since the last write, which is the release that `take`
  /// acquires, or nothing was written. Returns false if a launch has begun in between. Such a
  /// launch has marked the records as its own, and its end frees them.
  WARDEN_DEVICE bool free() const { return simt::compare_exchange(at_work, 1u, 0u) == 1; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
