// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reservation of places in a log for messages of one block.
#pragma once

#include <warden/detail/deferred/batch_stage.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Takes places for up to `count` messages of `Width` places in the first shard that has any, after
/// the `tried` shards that begin with shard `turn`. If `is_batch`, takes them at the shard's front,
/// otherwise as flat messages at its back. Writes the places to the stage, or none if all shards
/// are full. Returns the number of shards tried so far. Collective over one warp.
template <unsigned Width, class Stage>
WARDEN_DEVICE std::uint32_t reserve_places(Stage const& stage, std::uint32_t turn,
                                           std::uint32_t tried, std::uint32_t count,
                                           bool is_batch) {
  using side = typename Stage::log_type::side;
  log_places places{0, 0};
  while (tried <= stage.log.last_shard && places.count == 0) {
    // The first shard is tried without a test. After that each lane tests another shard.
    std::uint32_t const mine = tried + simt::lane_id();
    bool const hopeful = tried == 0
                             ? simt::lane_id() == 0
                             : mine <= stage.log.last_shard &&
                                   !stage.log.looks_full((turn + mine) & stage.log.last_shard);
    int const found = simt::first_bit(simt::ballot(simt::full_warp, hopeful));
    if (found < 0) {
      tried += simt::warp_size;
      continue;
    }
    tried += static_cast<unsigned>(found) + 1;
    if (simt::lane_id() == 0) {
      std::uint32_t const shard = (turn + tried - 1) & stage.log.last_shard;
      places = is_batch ? stage.log.template take<side::batch, Width>(shard, count)
                        : stage.log.template take<side::flat>(shard, count);
    }
    places.count = simt::shuffle(simt::full_warp, places.count, 0);
  }
  if (simt::lane_id() == 0) stage.places[0] = places;
  return tried;
}

}  // namespace detail
WARDEN_NAMESPACE_END
