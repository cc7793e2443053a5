// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ways to keep a vertex that several threads reach in one level from being queued by each of them
/// [Merrill 2011, section 6.4]: policies to choose from, each a type.
///
/// `keep(visited, v, found)` is collective over the block. Before the call, `found` is true for the
/// vertices that a thread has just seen unvisited; after it, for those that the thread has to
/// queue. All of them are then marked. Only `cull_all` guarantees that exactly one thread queues
/// each vertex.
#pragma once

#include "apps/breadth_first/state.cuh"

#include <cstdint>

namespace breadth_first {

/// The thread that sets a vertex's bit queues the vertex. It waits for the old value of the atomic.
/// Each vertex is queued once.
class cull_all {
 public:
  struct storage {};
  static constexpr bool is_exact = true;

  WARDEN_DEVICE explicit cull_all(storage&) {}
  WARDEN_DEVICE static void keep(std::uint32_t* visited, std::uint32_t const (&v)[arcs_at_once],
                                 bool (&found)[arcs_at_once]) {
    std::uint32_t before[arcs_at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k)
      before[k] = found[k] ? simt::fetch_or(&visited[v[k] / 32], bit_of(v[k])) : 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k)
      found[k] = found[k] && (before[k] & bit_of(v[k])) == 0;
  }
};

/// A thread that has seen the bit unset queues the vertex. No thread waits for the atomic that sets
/// it, so several threads may find it unset.
class cull_none {
 public:
  struct storage {};
  static constexpr bool is_exact = false;

  WARDEN_DEVICE explicit cull_none(storage&) {}
  WARDEN_DEVICE static void keep(std::uint32_t* visited, std::uint32_t const (&v)[arcs_at_once],
                                 bool const (&found)[arcs_at_once]) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (found[k]) simt::fetch_or(&visited[v[k] / 32], bit_of(v[k]));
    }
  }
};

/// Like cull_none, but if lanes of a warp with the same vertex meet in a small table, only one of
/// them queues it.
class cull_in_warp {
  static constexpr unsigned slots = simt::has_registers ? 128 : 16;

 public:
  struct storage {
    std::uint32_t table[search_threads / simt::warp_size][slots];
  };
  static constexpr bool is_exact = false;

  WARDEN_DEVICE explicit cull_in_warp(storage& s) : table_{s.table[simt::warp_rank()]} {}
  WARDEN_DEVICE void keep(std::uint32_t* visited, std::uint32_t const (&v)[arcs_at_once],
                          bool (&found)[arcs_at_once]) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) cull(v[k], found[k]);
    cull_none::keep(visited, v, found);
  }

 private:
  /// Only one of the vertices that hash to one slot is culled. The lanes that hold it compete for
  /// the slot by their numbers.
  WARDEN_DEVICE void cull(std::uint32_t v, bool& found) const {
    std::uint32_t& slot = table_[v % slots];
    simt::sync_warp(simt::full_warp);
    if (found) simt::shared_store(slot, v);
    simt::sync_warp(simt::full_warp);
    bool const vies = found && simt::shared_load(slot) == v;
    simt::sync_warp(simt::full_warp);
    if (vies) simt::shared_store(slot, simt::lane_id());
    simt::sync_warp(simt::full_warp);
    if (vies && simt::shared_load(slot) != simt::lane_id()) found = false;
  }

  std::uint32_t (&table_)[slots];
};

/// Like cull_in_warp, but a vertex that the block has queued recently is not queued again. A table
/// of the block holds some of the last vertices.
class cull_by_history {
  static constexpr unsigned slots = simt::has_registers ? 1024 : 32;

 public:
  struct storage {
    cull_in_warp::storage of_warps;
    std::uint32_t recent[slots];
  };
  static constexpr bool is_exact = false;

  WARDEN_DEVICE explicit cull_by_history(storage& s) : warp_{s.of_warps}, recent_{s.recent} {
    for (unsigned i = simt::thread_rank(); i < slots; i += simt::block_threads())
      simt::shared_store(recent_[i], unreached);
    simt::sync_block();
  }
  WARDEN_DEVICE void keep(std::uint32_t* visited, std::uint32_t const (&v)[arcs_at_once],
                          bool (&found)[arcs_at_once]) const {
    // A thread of this block found the vertex that stands there, and has queued it or will.
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (!found[k]) continue;
      std::uint32_t& slot = recent_[v[k] % slots];
      if (simt::shared_load(slot) == v[k]) {
        found[k] = false;
      } else {
        simt::shared_store(slot, v[k]);
      }
    }
    warp_.keep(visited, v, found);
  }

 private:
  cull_in_warp warp_;
  std::uint32_t (&recent_)[slots];
};

}  // namespace breadth_first
