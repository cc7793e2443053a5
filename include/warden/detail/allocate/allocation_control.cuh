// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the allocations of an output share, and what they tell the host.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A place that no output has, and a count that says as much: sums end there.
inline constexpr std::uint64_t no_place = std::uint64_t{1} << 58;

namespace detail {

/// Places of a block's call, or a warp's, that are as many as `no_place`.
inline constexpr std::uint64_t too_many_places = std::uint64_t{1} << 48;
/// Value of a counter if blocks have another number of threads than their allocator.
inline constexpr std::uint64_t wrong_blocks_counted = std::uint64_t{1} << 62;

/// What a thread's count adds to a sum over 1,024 of them, which it does not wrap around.
WARDEN_HOST_DEVICE std::uint64_t summand_of(std::uint64_t count) {
  return count < too_many_places ? count : too_many_places;
}
/// The first of `total` places of `counter`, by one thread.
WARDEN_DEVICE std::uint64_t take_places(std::uint64_t* counter, std::uint64_t total) {
  if (total < too_many_places) return total == 0 ? 0 : simt::fetch_add(counter, total);
  simt::fetch_max(counter, no_place);
  return no_place;
}

/// In device memory, zero at first. What went wrong stays until it is cleared, whatever comes
/// after.
struct allocation_control {
  launch_health health;         ///< whether a wait took too long
  std::uint64_t again;          ///< calls of `allocate` for no tile, or a second time for one
  std::uint64_t left;           ///< tiles of earlier allocations that no block took
  std::uint64_t wrong_blocks;   ///< of another number of threads than their allocator
  std::uint64_t changed;        ///< how often a second `count(i)` differed, as far as that was seen
  std::uint64_t without_owner;  ///< elements of partitions whose owner is none
  std::uint64_t first_without;  ///< the first of these and its owner, 32 bits each, inverted

  std::uint64_t tiles;       ///< of the last allocation in order
  std::uint64_t next;        ///< of these, the one that is taken next
  std::uint64_t long_tiles;  ///< on the list of the last allocation

  /// By any thread of a partition.
  WARDEN_DEVICE void note_owner(std::uint32_t element, std::uint32_t owner) {
    simt::fetch_add(&without_owner, std::uint64_t{1});
    simt::fetch_max(&first_without, ~(std::uint64_t{element} << 32 | owner));
  }
  /// Tiles that no block took.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t tiles_left() const {
    return left + (next < tiles ? tiles - next : 0);
  }
};

/// Another allocation begins, with so many tiles in order. One thread.
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
