// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counting sort of a staged batch by partition, in shared memory.
#pragma once

#include <warden/detail/deferred/batch_stage.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the slot that this thread sorts as item `r` of `used`. In order a warp sorts adjacent
/// slots.
template <class Batch, class Stage>
WARDEN_DEVICE unsigned sorting_slot(Stage const&, Batch const&, unsigned r, unsigned used) {
  if constexpr (Stage::in_order) {
    return (simt::warp_rank() * used + r) * simt::warp_size + simt::lane_id();
  } else if constexpr (Batch::places == 1) {
    return Stage::staging_slot(r);
  } else {
    return r * Stage::threads + simt::thread_rank();
  }
}

/// Ranks messages by partition, below `Limit`, in their order. Collective over the warp.
template <unsigned Limit, class Batch, class Stage>
WARDEN_DEVICE void rank_in_order(Stage const& stage, Batch const& b, unsigned used,
                                 std::uint32_t (&rank)[Batch::items]) {
  WARDEN_UNROLL
  for (unsigned r = 0; r < Batch::items; ++r) {
    if (r >= used) break;
    std::uint32_t const partition = b.ranks[sorting_slot(stage, b, r, used)];
    bool const is_message = partition != Stage::no_message;
    rank[r] = stage.counts.template rank<Limit>(is_message ? partition : 0, is_message);
  }
}

/// Turns counts into positions and ranks into the order of slots. Returns the number of messages.
/// Collective.
template <class Batch, class Stage>
WARDEN_DEVICE std::uint32_t sort_batch(Stage const& stage, Batch const& b, unsigned used) {
  constexpr unsigned items = Batch::items, usual_partitions = 128;
  constexpr std::uint16_t no_message = Stage::no_message;
  unsigned const me = simt::thread_rank();
  std::uint32_t const partitions = stage.log.partitions.partitions();
  simt::sync_block();
  // Two positions share a register, because the user's loop needs the others. In order each
  // position has its own, for the rank.
  constexpr unsigned together = Stage::in_order ? 1 : 2;
  std::uint32_t positions[(items + together - 1) / together]{};
  if constexpr (Stage::in_order) {
    // Fewer bits to compare for the usual number of partitions.
    if constexpr (is_apart<typename Batch::message>) {
      rank_in_order<1>(stage, b, used, positions);  // such logs have one partition
    } else if (partitions <= usual_partitions) {
      rank_in_order<usual_partitions>(stage, b, used, positions);
    } else {
      rank_in_order<most_partitions>(stage, b, used, positions);
    }
    simt::sync_block();
  }
  // Largest number of partitions that one thread counts.
  constexpr unsigned each = (most_partitions + Stage::threads - 1) / Stage::threads;
  std::uint32_t counted[each], sum = 0, total;
  WARDEN_UNROLL
  for (unsigned k = 0; k < each; ++k) {
    std::uint32_t const p = me * each + k;
    counted[k] = p < partitions ? stage.counts.count(p) : 0;
    sum += counted[k];
  }
  std::uint32_t begin = Stage::scan::exclusive_sum(stage.scanning[0], sum, total);
  WARDEN_UNROLL
  for (unsigned k = 0; k < each; ++k) {
    std::uint32_t const p = me * each + k;
    if (p < partitions) stage.counts.begin_at(p, begin);
    begin += counted[k];
  }
  simt::sync_block();
  WARDEN_UNROLL
  for (unsigned r = 0; r < items; ++r) {
    if constexpr (Stage::in_order) {
      std::uint32_t const partition =
          r < used ? b.ranks[sorting_slot(stage, b, r, used)] : no_message;
      bool const is_message = partition != no_message;
      std::uint32_t const begin = stage.counts.begin_in_warp(is_message ? partition : 0);
      positions[r] = is_message ? positions[r] + begin : no_message;
    } else {
      unsigned const slot = sorting_slot(stage, b, r, used);
      std::uint32_t mine = no_message;
      if (r < used) mine = b.ranks[slot];
      if (mine != no_message) mine += stage.counts.begin_of(stage.partition_of(b, slot));
      positions[r / together] |= mine << r % together * 16;
    }
  }
  // The order of slots overwrites the ranks.
  simt::sync_block();  // mutation: order-over-ranks
  WARDEN_UNROLL
  for (unsigned r = 0; r < items; ++r) {
    std::uint32_t const mine =
        together == 1 ? positions[r] : positions[r / together] >> r % together * 16 & 0xffffu;
    if (mine != no_message)
      b.ranks[mine] = static_cast<std::uint16_t>(sorting_slot(stage, b, r, used));
  }
  simt::sync_block();
  return total;
}

}  // namespace detail
WARDEN_NAMESPACE_END
