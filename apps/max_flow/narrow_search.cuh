// SPDX-License-Identifier: Apache-2.0
/// @file
/// Levels of a search that one block does by itself, because they are narrow.
#pragma once

#include "apps/max_flow/search.cuh"

#include <cstdint>

namespace max_flow {

/// The frontiers of a block, on chip as far as there is room; what is beyond stands in the lists.
class narrow_frontiers {
 public:
  /// Vertices of a narrow level: two turns of a block. One with more is done sooner by all blocks,
  /// barrier and all.
  static constexpr std::uint32_t room = simt::has_registers ? 256 : 8;

  /// By one thread, before the first level, `level`, of `n` vertices.
  WARDEN_DEVICE void begin(std::uint32_t level, std::uint32_t n) {
    simt::shared_store(counts_[level % 3], n);
    simt::shared_store(counts_[(level + 1) % 3], 0u);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t size(std::uint32_t level) const {
    return simt::shared_load(counts_[level % 3]);
  }
  /// By one thread, in each level: the number after the next one becomes 0.
  WARDEN_DEVICE void make_room(std::uint32_t level) {
    simt::shared_store(counts_[(level + 2) % 3], 0u);
  }
  /// A place in the frontier of `level`.
  WARDEN_DEVICE std::uint32_t place(std::uint32_t level) {
    return simt::shared_fetch_add(counts_[level % 3], 1u);
  }
  /// Puts a vertex there; `place` is below `room`. (A row of 2^32 arcs, which would have length 0,
  /// would be all loops and lead nowhere.)
  WARDEN_DEVICE void put(std::uint32_t level, std::uint32_t place, std::uint32_t v, row const& of) {
    simt::shared_store(vertices_[level % 2][place], v);
    simt::shared_store(begins_[level % 2][place], static_cast<std::uint32_t>(of.begin));
    simt::shared_store(arcs_[level % 2][place], static_cast<std::uint32_t>(of.end - of.begin));
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t vertex(std::uint32_t level, std::uint32_t i) const {
    return simt::shared_load(vertices_[level % 2][i]);
  }
  [[nodiscard]] WARDEN_DEVICE row row_at(std::uint32_t level, std::uint32_t i) const {
    std::uint64_t const begin = simt::shared_load(begins_[level % 2][i]);
    return {begin, begin + simt::shared_load(arcs_[level % 2][i])};
  }

 private:
  // [level modulo 2][place], [level modulo 3]
  std::uint32_t vertices_[2][room], begins_[2][room], arcs_[2][room];
  std::uint32_t counts_[3];
};
/// Levels that a block does while the others wait: they do not wait forever.
inline constexpr std::uint32_t most_narrow_levels = simt::has_registers ? 4096 : 12;

/// Levels from that of a step on, as long as they are narrow, by one block: a barrier of the grid
/// takes longer than such a level. The frontier that is left is that of the next step. Collective.
WARDEN_DEVICE void search_narrow_levels(search const& a, narrow_frontiers& frontiers,
                                        search_step const& now) {
  constexpr std::uint32_t room = narrow_frontiers::room;
  network const& net = a.network;
  std::uint32_t* const next = a.state.list_in(now.number + 1);
  bool const is_first = simt::thread_rank() == 0;
  std::uint32_t level = now.level;
  auto n = static_cast<std::uint32_t>(now.n);
  if (is_first) frontiers.begin(level, n);
  for (std::uint32_t i = simt::thread_rank(); i < n; i += simt::block_threads()) {
    std::uint32_t const v = a.state.list_in(now.number)[i];
    frontiers.put(level, i, v, row_of(net, v));
  }
  simt::sync_block();

  while (n != 0 && n <= room && level - now.level < most_narrow_levels) {
    if (is_first) {
      frontiers.make_room(level);
      a.state.levels[level] = n;
    }
    // Nothing is loaded only after it turned out to be needed: waits are what such a level costs.
    auto const reach = [&](std::uint64_t back) {
      std::uint32_t const v = net.neighbours[back];
      std::uint32_t const residual = a.state.residual[net.reverse[back]];
      std::uint32_t const seen = simt::load_relaxed(&a.state.heights[0][v]);
      row const its = row_of(net, v);
      if (seen != net.vertices || residual == 0 || net.is_terminal(v)) return;
      if (!a.reaches(level, v)) return;
      std::uint32_t const place = frontiers.place(level + 1);
      if (place < room) {
        frontiers.put(level + 1, place, v, its);
      } else {
        next[place] = v;  // the next level is no narrow one
      }
    };
    for_rows(
        n, simt::warp_rank(), simt::block_threads() / simt::warp_size,
        [&](std::uint64_t i) { return frontiers.row_at(level, static_cast<std::uint32_t>(i)); },
        reach);
    // What the level wrote is behind it: the next one's frontier, and its number.
    simt::sync_block();
    ++level;
    n = frontiers.size(level);
  }
  for (std::uint32_t i = simt::thread_rank(); i < n && i < room; i += simt::block_threads())
    next[i] = frontiers.vertex(level, i);
  if (!is_first) return;
  control& c = *a.state.control;
  now.make_room(c);
  now.goes_on_at(c, level);
  *now.next_n(c) = n;
}

}  // namespace max_flow
