// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of a search by a decoupled worklist.
#pragma once

#include "apps/shortest_paths/worklist_manager.cuh"
#include "apps/shortest_paths/worklist_worker.cuh"
#include "apps/support/device.cuh"

#include <warden/cuda_names.cuh>

#include <cstdint>

namespace shortest_paths {

/// Begins a search: only the source is reached, and all segments are free.
template <class Distance>
WARDEN_KERNEL void begin_worklist(worklist_state<Distance> s, std::uint32_t source) {
  apps::for_my_share(s.rows.vertices, [&](std::uint64_t v) {
    s.words[v] = v == source ? Distance{0} : unreached<Distance>;
  });
  apps::for_my_share(
      s.segments, [&](std::uint64_t i) { s.free[i] = numbered(i, static_cast<std::uint32_t>(i)); });
  apps::for_my_share(std::uint64_t{worklist_buckets} * s.table_size,
                     [&](std::uint64_t i) { s.table[i] = 0; });
}

/// Searches. Block 0 is the manager, and all others are workers.
template <class Distance>
WARDEN_KERNEL void WARDEN_BOUNDS(search_threads, blocks_together<Distance>)
    search_worklist(WARDEN_GRID_CONSTANT worklist_state<Distance> const s, std::uint32_t source) {
  simt::assume_one_dimension();
  using worker = worklist_worker<Distance>;
  WARDEN_SHARED(typename worker::storage, shared);
  if (simt::block_rank() != 0) {
    worker{s, shared}.run();
  } else if (simt::warp_rank() == 0) {
    worklist_manager{s}.run(source);
  }
}

/// Writes the distances for the host.
template <class Distance>
WARDEN_KERNEL void write_distances(worklist_state<Distance> s) {
  apps::for_my_share(s.rows.vertices, [&](std::uint64_t v) {
    Distance const word = s.words[v];
    s.distances[v] = word == unreached<Distance> ? word : static_cast<Distance>(word >> 1);
  });
}

}  // namespace shortest_paths
