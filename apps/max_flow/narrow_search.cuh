// SPDX-License-Identifier: Apache-2.0
/// @file
/// Levels of a search that one cluster of blocks runs by itself, because they are narrow.
#pragma once

#include "apps/max_flow/search.cuh"

#include <cstdint>

namespace max_flow {

/// Part of the frontiers that a block of the cluster holds in its dynamic shared memory. The
/// discovering thread appends a vertex to the part of one block; that block expands it.
class narrow_frontiers {
 public:
  /// Vertices of a block's part. Further vertices go to device memory.
  static constexpr std::uint32_t room = simt::has_registers ? 512 : 8;
  /// Returns the largest number of vertices of a narrow level: half of the room, because parts
  /// differ in size. For a larger level all blocks are faster, in spite of the grid's barrier.
  WARDEN_DEVICE static std::uint32_t most() { return simt::cluster_size() * (room / 2); }

  /// Begins before the first level, `level`, by one thread of each block: `n` of its vertices are
  /// here, and this block counts the `found` ones with excess.
  WARDEN_DEVICE void begin(std::uint32_t level, std::uint32_t n, std::uint32_t found) {
    simt::shared_store(counts_[level % 3], n);
    simt::shared_store(counts_[(level + 1) % 3], 0u);
    simt::shared_store(found_[level % 3], found);
    simt::shared_store(found_[(level + 1) % 3], 0u);
    simt::shared_store(is_full_[0], 0u);
    simt::shared_store(is_full_[1], 0u);
  }
  /// Number of vertices of the frontier of `level` that are here.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t size(std::uint32_t level) const {
    std::uint32_t const n = simt::shared_load(counts_[level % 3]);
    return n < room ? n : room;
  }
  /// Clears the counts of the level after the next. Called by one thread in each level.
  WARDEN_DEVICE void make_room(std::uint32_t level) {
    simt::shared_store(counts_[(level + 2) % 3], 0u);
    simt::shared_store(found_[(level + 2) % 3], 0u);
  }
  /// Returns a packed row.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t at(std::uint32_t level, std::uint32_t i) const {
    return simt::shared_load(rows_[level % 2][i]);
  }

  /// Returns a place in block `rank`'s part of the frontier of `level`; invalid from `room` on.
  WARDEN_DEVICE std::uint32_t reserve(std::uint32_t level, unsigned rank) {
    return simt::cluster_fetch_add(counts_[level % 3], rank, 1);
  }
  /// Puts a vertex into a reserved place.
  WARDEN_DEVICE void put(std::uint32_t level, unsigned rank, std::uint32_t place,
                         std::uint64_t packed) {
    simt::cluster_store(rows_[level % 2][place], rank, packed);
  }

  /// Counts a vertex with excess that the calling thread found for the frontier of `level`. Any
  /// thread.
  WARDEN_DEVICE void note_found(std::uint32_t level) {
    simt::cluster_add(found_[level % 3], simt::cluster_rank(), 1);
  }
  /// Returns the number of vertices with excess that this block found for `level`. Called after the
  /// barrier before that level.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t found(std::uint32_t level) const {
    return simt::shared_load(found_[level % 3]);
  }
  /// Tells all blocks that a part of the frontier of `level` is full. Any thread.
  WARDEN_COLD void tell_full(std::uint32_t level) {
    for (unsigned rank = 0; rank < simt::cluster_size(); ++rank)
      simt::cluster_store(is_full_[level % 2], rank, 1u);
  }
  /// Returns true if a part of the frontier of `level` is full. Called after the barrier before
  /// that level; other blocks may already add to the next level.
  [[nodiscard]] WARDEN_DEVICE bool is_full(std::uint32_t level) const {
    return simt::shared_load(is_full_[level % 2]) != 0;
  }

  /// Counts the frontier of `level` while other warps expand it. Called by one warp of each block.
  WARDEN_DEVICE std::uint32_t count(std::uint32_t level) {
    unsigned const rank = simt::lane_id();
    bool const is = rank < simt::cluster_size();
    std::uint32_t const some = is ? simt::cluster_load(counts_[level % 3], rank) : 0u;
    std::uint32_t const with_excess = is ? simt::cluster_load(found_[level % 3], rank) : 0u;
    std::uint32_t const n = simt::warp_sum(some), found = simt::warp_sum(with_excess);
    if (simt::lane_id() == 0) {
      simt::shared_store(totals_[level % 2], n);
      simt::shared_store(totals_found_[level % 2], found);
    }
    return n;
  }
  /// Returns the count of `level`, after the next barrier.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t counted(std::uint32_t level) const {
    return simt::shared_load(totals_[level % 2]);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t counted_found(std::uint32_t level) const {
    return simt::shared_load(totals_found_[level % 2]);
  }

 private:
  // [level modulo 2][place]
  std::uint64_t rows_[2][room];  ///< packed
  std::uint32_t counts_[3];      ///< [level modulo 3]
  std::uint32_t found_[3];       ///< [level modulo 3] found by this block, in any block's part
  std::uint32_t totals_[2];      ///< [level modulo 2] counts of the whole cluster
  std::uint32_t totals_found_[2];
  std::uint32_t is_full_[2];  ///< [level modulo 2]
};
/// Largest number of levels that one cluster expands while the other blocks wait, because their
/// wait is bounded.
inline constexpr std::uint32_t most_narrow_levels = simt::has_registers ? 4096 : 12;

/// Puts a vertex into the frontier of the next step.
WARDEN_COLD void put_beyond(std::uint64_t* next_n, std::uint64_t* next_frontier,
                            std::uint64_t packed) {
  next_frontier[simt::fetch_add(next_n, std::uint64_t{1})] = packed;
}

/// Expands a level by the first cluster. The vertices that its blocks reach are the frontier of the
/// next level.
WARDEN_DEVICE void search_narrow_level(search const& a, narrow_frontiers& frontiers,
                                       search_step const& now, std::uint32_t level) {
  network const& net = a.network;
  unsigned const warps = simt::block_threads() / simt::warp_size;
  if (simt::thread_rank() == 0) frontiers.make_room(level);
  if (simt::warp_rank() == warps - 1) {
    std::uint32_t const n = frontiers.count(level);
    // The last level is empty and is not recorded.
    if (simt::cluster_rank() == 0 && simt::lane_id() == 0 && n != 0) a.state.levels[level] = n;
  }
  // Latencies are the cost of a narrow level, and the cluster waits for the longest row. So mostly
  // all arcs of a row are processed together, and all loads are issued, needed or not, before a
  // result is used.
  constexpr unsigned each = 2;
  auto const reach = [&](std::uint64_t first, std::uint64_t end, unsigned stride) {
    for (; first < end; first += each * stride) {
      std::uint32_t v[each]{}, had[each]{}, to[each]{}, place[each]{};
      bool leads[each]{};
      vertex_state neighbour[each]{};
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        std::uint64_t const back = first + k * stride;
        if (back >= end) continue;
        arc const that = a.state.arcs[back];
        v[k] = that.ends.to;
        leads[k] = a.leads_here(that);
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        leads[k] = leads[k] && !net.is_terminal(v[k]);
        if (!leads[k]) continue;
        had[k] = a.claim(level, v[k]);
        neighbour[k] = load_vertex(a.state.vertices[v[k]]);
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        leads[k] = leads[k] && had[k] == net.vertices;
        if (!leads[k]) continue;
        // Vertices with neighbouring numbers mostly go to different blocks.
        to[k] = simt::multiply_high(v[k] * 0x9e3779b1u, simt::cluster_size());
        place[k] = frontiers.reserve(level + 1, to[k]);
        // Prefetch the vertex's arcs, mostly all of them: 64 bytes per prefetch.
        simt::prefetch(&a.state.arcs[neighbour[k].arcs.first]);
        if (neighbour[k].arcs.number > 4)
          simt::prefetch(&a.state.arcs[neighbour[k].arcs.first + 4]);
        if (neighbour[k].excess != 0) frontiers.note_found(level + 1);  // mutation: flow-found
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        if (!leads[k]) continue;
        std::uint64_t const packed = packed_row(neighbour[k].arcs);
        if (place[k] < narrow_frontiers::room) {
          frontiers.put(level + 1, to[k], place[k], packed);
        } else {
          put_beyond(now.next_n(*a.state.control), a.state.frontier_in(now.number + 1), packed);
          frontiers.tell_full(level + 1);
        }
      }
    }
  };
  for_rows<row_lanes>(
      frontiers.size(level), simt::warp_rank(), warps,
      [&](std::uint64_t i) {
        return unpacked_row(frontiers.at(level, static_cast<std::uint32_t>(i)));
      },
      reach);
}

/// Expands levels from the step's level on, as long as they are narrow, by one cluster, because a
/// barrier of the grid takes longer than such a level. The remaining frontier is that of the next
/// step. Collective over the first cluster.
WARDEN_DEVICE void search_narrow_levels(search const& a, narrow_frontiers& frontiers,
                                        search_step const& now) {
  control& c = *a.state.control;
  unsigned const rank = simt::cluster_rank(), blocks = simt::cluster_size();
  bool const is_first = simt::thread_rank() == 0;
  auto const n = static_cast<std::uint32_t>(now.n);
  if (is_first) {
    frontiers.begin(now.level, (n + blocks - 1 - rank) / blocks,
                    rank == 0 ? static_cast<std::uint32_t>(now.found_here) : 0);
    if (rank == 0) now.make_room(c);
  }
  for (std::uint32_t i = simt::thread_rank(); i * blocks + rank < n; i += simt::block_threads()) {
    frontiers.put(now.level, rank, i, a.state.frontier_in(now.number)[i * blocks + rank]);
  }
  simt::sync_cluster();

  std::uint32_t level = now.level;
  std::uint64_t found = now.found;  // all threads have the same count
  bool is_over = false;
  while (!is_over && found != now.enough && !frontiers.is_full(level) &&
         level - now.level < most_narrow_levels) {
    search_narrow_level(a, frontiers, now, level);
    // This barrier of the cluster orders the writes of the level in all blocks, which are the next
    // frontier and the count, before the reads of the next level.
    simt::sync_cluster();
    is_over = frontiers.counted(level) == 0;
    found += frontiers.counted_found(level);
    level += is_over ? 0 : 1;
  }
  // No vertices follow an empty level.
  std::uint32_t const left = is_over ? 0 : frontiers.size(level);
  for (std::uint32_t i = simt::thread_rank(); i < left; i += simt::block_threads()) {
    std::uint64_t const place = simt::fetch_add_together(now.next_n(c), 1);
    a.state.frontier_in(now.number + 1)[place] = frontiers.at(level, i);
  }
  if (!is_first) return;
  if (!is_over) simt::fetch_add(now.next_found(c), std::uint64_t{frontiers.found(level)});
  if (rank == 0) now.goes_on_at(c, level, found);
}

}  // namespace max_flow
