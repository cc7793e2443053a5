// SPDX-License-Identifier: Apache-2.0
/// @file
/// The decoupled worklist [Wang 2020, chapter 5]: buckets of vertices that all blocks fill, and
/// that one block, the manager, empties.
///
/// A bucket is a queue of segments of one pool. A worker reserves entries, writes vertices there
/// and adds their number to the segment's count. The manager reads the count of a segment before
/// the number of reserved entries: if they agree, all of these entries have been written. It hands
/// entries of the lowest buckets to idle workers.
#pragma once

#include "apps/shortest_paths/state.cuh"

#include <cstdint>

namespace shortest_paths {

/// Number of buckets: one for each lane of the manager.
inline constexpr unsigned worklist_buckets = simt::warp_size;
/// Largest number of vertices of a search by a worklist.
inline constexpr std::uint64_t most_listed_vertices = 0x7fffffff;
// A search stores no distance of a path with a vertex twice. So distances of 63 bits do not
// overflow.
static_assert((most_listed_vertices - 1) * graph::most_weight <= unreached<std::uint64_t> / 2 - 1);

/// Largest logarithm of a bucket's width: all buckets together then span distances of the type.
template <class Distance>
inline constexpr unsigned most_shift = 8 * sizeof(Distance) - 7;
/// Entries of a segment.
inline constexpr std::uint32_t segment_entries = simt::has_registers ? 256 : 16;

/// Segments that a bucket has in advance, at most, so that workers seldom wait for one.
inline constexpr std::uint32_t segments_ahead = simt::has_registers ? 64 : 2;

/// Counts that the blocks share with each other and the host.
struct worklist_control {
  counter reserved[worklist_buckets];  ///< entries that workers reserved in each bucket
  counter done[worklist_buckets];      ///< entries that workers expanded
  counter freed;                       ///< segments put into the ring of free ones
  /// How workers choose a bucket. They may read values of different times: the order of vertices
  /// affects only the amount of work.
  alignas(128) std::uint64_t base;    ///< distance at which the first bucket begins
  std::uint32_t head;                 ///< number of the first bucket
  std::uint32_t shift;                ///< a bucket is 2^shift wide
  alignas(128) std::uint32_t beats;   ///< passes of the manager
  alignas(128) std::uint32_t failed;  ///< 1: a wait was given up
  std::uint32_t too_far;              ///< 1: a distance does not fit its type
  std::uint32_t over;                 ///< 1: the manager has ended the search
  // For the host:
  alignas(128) std::uint64_t entries;  ///< entries of all buckets
  std::uint32_t assignments;           ///< assignments of entries to workers
  std::uint32_t switches;              ///< changes of the first bucket
};

/// State of a search by a decoupled worklist.
template <class Distance>
struct worklist_state {
  graph::csr_view rows;  ///< fewer than 2^32 arcs, and than 2^31 vertices
  /// [vertex] twice the distance, and 1 unless the vertex is in a bucket. One atomic changes both,
  /// so a vertex is in at most one bucket, and no improvement is overlooked.
  Distance* words;
  Distance* distances;       ///< [vertex] for the host
  std::uint32_t* entries;    ///< [segment][entry] vertices
  std::uint32_t* written;    ///< [segment] entries written
  std::uint32_t* read;       ///< [segment] entries expanded
  std::uint64_t* free;       ///< ring of free segments: number in the ring + 1, and the segment
  std::uint64_t* table;      ///< [bucket][segment of the bucket]: that number + 1, and the segment
  std::uint64_t* assigned;   ///< [worker] its entries, see `assignment`; 0: none
  std::uint32_t segments;    ///< number of segments of the pool
  std::uint32_t table_size;  ///< a power of 2, at least `segments`
  unsigned shift;
  bool adapts;
  std::uint32_t local_iterations;  ///< iterations of a block with an assignment, after the first
  worklist_control* control;

  WARDEN_DEVICE std::uint64_t* table_entry(unsigned bucket, std::uint64_t number) const {
    return &table[std::uint64_t{bucket} * table_size + (number & (table_size - 1))];
  }
};

/// Number and segment, as the ring and the table hold them.
WARDEN_DEVICE std::uint64_t numbered(std::uint64_t number, std::uint32_t segment) {
  return (number + 1) << 32 | segment;
}
/// True if `word` has that number, modulo 2^32.
WARDEN_DEVICE bool has_number(std::uint64_t word, std::uint64_t number) {
  return static_cast<std::uint32_t>(word >> 32) == static_cast<std::uint32_t>(number + 1);
}

/// Entries that a worker has to expand.
struct assignment {
  std::uint32_t first;  ///< position in the pool
  unsigned bucket, count;

  [[nodiscard]] WARDEN_DEVICE std::uint64_t word() const {
    return std::uint64_t{first} << 32 | bucket << 16 | count;
  }
  WARDEN_DEVICE static assignment of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<unsigned>(word >> 16 & 0xffff),
            static_cast<unsigned>(word & 0xffff)};
  }
};
static_assert(search_threads < 0xffff);

/// Bounds a wait: it is given up after 10 s without a change of a word.
class patience {
  static constexpr std::uint64_t nanoseconds = 10'000'000'000;
  /// Time alone is no proof: a preempted thread must also have looked this often.
  static constexpr std::uint32_t minimum_looks = 64;

 public:
  /// True if the wait goes on.
  WARDEN_DEVICE bool lasts(std::uint32_t value) {
    std::uint64_t const now = simt::nanoseconds();
    if (value != value_ || looks_ == 0) {
      value_ = value;
      since_ = now;
      looks_ = 0;
    }
    ++looks_;
    return now - since_ < nanoseconds || looks_ < minimum_looks;
  }

 private:
  std::uint64_t since_ = 0;
  std::uint32_t value_ = 0, looks_ = 0;
};

}  // namespace shortest_paths
