// SPDX-License-Identifier: Apache-2.0
/// @file
/// State that the allocations of an output share, and that the host reads.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A place that no output has, and a count that stands for any count so large: sums end there.
inline constexpr std::uint64_t no_place = std::uint64_t{1} << 58;

namespace detail {

/// Places of one call of a block or warp that count as `no_place`.
inline constexpr std::uint64_t too_many_places = std::uint64_t{1} << 48;
/// Value of a counter if blocks have another number of threads than their allocator.
inline constexpr std::uint64_t wrong_blocks_counted = std::uint64_t{1} << 62;

/// Returns a thread's contribution to a sum over 1,024 threads, bounded so that the sum does not
/// wrap around.
WARDEN_HOST_DEVICE std::uint64_t summand_of(std::uint64_t count) {
  return count < too_many_places ? count : too_many_places;
}
/// Takes `total` places of `counter`, and returns the first, which `checked_places` takes next.
/// Called by one thread.
WARDEN_DEVICE std::uint64_t take_places(std::uint64_t* counter, std::uint64_t total) {
  if (total < too_many_places) return total == 0 ? 0 : simt::fetch_add(counter, total);
  simt::fetch_max(counter, no_place);
  return no_place;
}
/// Returns `first`, or `no_place` if all places were taken before. Then gives these back, so that
/// the counter exceeds its limit by no more than the calls under way and never wraps around.
WARDEN_DEVICE std::uint64_t checked_places(std::uint64_t* counter, std::uint64_t first,
                                           std::uint64_t total) {
  if (first < no_place) return first;
  if (total < too_many_places) simt::fetch_add(counter, ~total + 1);
  return no_place;
}

/// Shared state in device memory, initially 0. Errors stay until they are cleared, even if later
/// calls succeed.
struct allocation_control {
  launch_health health;  ///< poisoned if a wait took too long
  std::uint64_t again;   ///< calls of `allocate` without a tile, or a second time for one tile
  std::uint64_t left;    ///< tiles of earlier allocations that no block took
  std::uint64_t wrong_blocks;   ///< blocks with another number of threads than their allocator
  std::uint64_t changed;        ///< number of times that a repeated `count(i)` was seen to differ
  std::uint64_t without_owner;  ///< elements of partitions without a valid owner
  std::uint64_t first_without;  ///< the first such element and its owner, 32 bits each, inverted

  std::uint64_t tiles;       ///< tiles of the last allocation in order
  std::uint64_t next;        ///< number of the next tile of that allocation
  std::uint64_t long_tiles;  ///< tiles on the list of the last allocation

  /// Notes an element with an invalid owner. Called by any thread of a partition.
  WARDEN_DEVICE void note_owner(std::uint32_t element, std::uint32_t owner) {
    simt::fetch_add(&without_owner, std::uint64_t{1});
    simt::fetch_max(&first_without, ~(std::uint64_t{element} << 32 | owner));
  }
  /// Returns the number of tiles that no block took.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t tiles_left() const {
    return left + (next < tiles ? tiles - next : 0);
  }
};

/// Begins another allocation, with `tiles` tiles in order. Called with one thread.
template <class Control>
WARDEN_KERNEL void begin_allocation(Control* control, std::uint64_t tiles) {
  if (simt::thread_rank() != 0) return;
  control->left = control->tiles_left();
  control->tiles = tiles;
  control->next = 0;
  control->long_tiles = 0;
}

}  // namespace detail
WARDEN_NAMESPACE_END
