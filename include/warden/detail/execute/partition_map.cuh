// SPDX-License-Identifier: Apache-2.0
/// @file
/// Map from records to partitions; one block runs a partition at a time in a deferred run.
#pragma once

#include <warden/detail/execute/owner_map.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Map from records to partitions: chunks of adjacent records are dealt out to the partitions in
/// turn. All sizes are powers of two.
class partition_map {
 public:
  /// Makes a map with one partition.
  partition_map() = default;
  /// Makes a map. Precondition: `partitions` and `chunk` are powers of two.
  partition_map(std::uint32_t partitions, std::uint32_t chunk) : last_{partitions - 1} {
    while ((1u << chunk_log2_) < chunk) ++chunk_log2_;
    while ((1u << partitions_log2_) < partitions) ++partitions_log2_;
  }

  /// Returns a map with `partitions` partitions, each of which consists of several of this map's.
  /// Precondition: `partitions` is a power of two, at most this map's number.
  [[nodiscard]] partition_map coarser(std::uint32_t partitions) const {
    return {partitions, 1u << chunk_log2_};
  }
  /// Returns the map from records to the partitions within one partition of `coarser(partitions)`.
  [[nodiscard]] partition_map within(std::uint32_t partitions) const {
    return {(last_ + 1) / partitions, partitions << chunk_log2_};
  }

  /// Returns the partition of record `id`.
  WARDEN_DEVICE std::uint32_t partition_of(std::uint32_t id) const {
    return id >> chunk_log2_ & last_;
  }
  /// Returns the record's number in its partition.
  WARDEN_DEVICE std::uint32_t local_of(std::uint32_t id) const {
    std::uint32_t const within = (1u << chunk_log2_) - 1;
    return id >> chunk_log2_ >> partitions_log2_ << chunk_log2_ | (id & within);
  }
  /// Returns the record at a place: the inverse. `server` is the partition.
  WARDEN_DEVICE std::uint32_t id(record_location place) const {
    std::uint32_t const within = (1u << chunk_log2_) - 1;
    std::uint32_t const chunk = place.local >> chunk_log2_ << partitions_log2_ | place.server;
    return chunk << chunk_log2_ | (place.local & within);
  }
  /// Returns the number of adjacent records of one partition.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t chunk() const { return 1u << chunk_log2_; }
  /// Returns the number of partitions.
  WARDEN_HOST_DEVICE std::uint32_t partitions() const { return last_ + 1; }
  /// Returns the largest number of places that a partition needs for `size` records.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t locals(std::uint64_t size) const {
    std::uint64_t const dealt_log2 = std::uint64_t{chunk_log2_} + partitions_log2_;
    return ((size + (std::uint64_t{1} << dealt_log2) - 1) >> dealt_log2) << chunk_log2_;
  }

 private:
  std::uint32_t last_ = 0;
  std::uint32_t chunk_log2_ = 0, partitions_log2_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
