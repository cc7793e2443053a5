// SPDX-License-Identifier: Apache-2.0
/// @file
/// Begin of a search: only the source has been reached, and its row is queued.
#pragma once

#include "apps/breadth_first/state.cuh"
#include "apps/support/device.cuh"

#include <cstdint>

namespace breadth_first {

/// Returns place number `number` of a row.
WARDEN_DEVICE place part_of(std::uint32_t v, row const& its, std::uint32_t number) {
  std::uint32_t const before = number * most_arcs_of_a_place, left = its.arcs - before;
  return {v, left < most_arcs_of_a_place ? left : most_arcs_of_a_place, its.begin + before};
}

/// Begins a search. Called by all blocks of a launch. Writes the source's places to the first
/// queue, without counting them.
WARDEN_DEVICE void begin_search(search_state const& s, std::uint32_t source) {
  apps::for_my_share(s.out.vertices, [&](std::uint64_t v) {
    bool const is_source = v == source;
    simt::store_relaxed(&s.levels[v], is_source ? 0 : unreached);
    simt::store_relaxed(&s.parents[v], is_source ? source : unreached);
  });
  apps::for_my_share(words_of(s.out.vertices), [&](std::uint64_t w) {
    simt::store_relaxed(&s.visited[0][w], w == source / 32 ? bit_of(source) : 0u);
  });
  if (simt::block_rank() != 0) return;
  row const its = row_of(s.out, source);
  for (std::uint32_t p = simt::thread_rank(); p < places_of(its.arcs); p += simt::block_threads())
    simt::store_flit(&s.queues[0][p], part_of(source, its, p).words(), false);
}

}  // namespace breadth_first
