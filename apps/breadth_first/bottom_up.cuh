// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bottom-up level [Beamer 2012]: an unvisited vertex searches its neighbours for a parent and
/// stops at the first.
#pragma once

#include "apps/breadth_first/state.cuh"
#include "apps/breadth_first/visited_neighbour.cuh"

#include <cstdint>

namespace breadth_first {

/// Searches for parents, one warp per word of 32 vertices.
///
/// A neighbour that had been visited when the level began belongs to the last level: if it had been
/// visited earlier, all vertices that it leads to would be visited by now. So only the bits from
/// the beginning of the level are read, and no levels. The bits after the level are others, each
/// word written by one warp.
class parent_search {
 public:
  /// `before` has the bits at the beginning of the level, `after` gets those at its end. `before`
  /// does not change between two barriers: plain loads, which a multiprocessor may cache.
  WARDEN_DEVICE parent_search(search_state const& s, std::uint32_t const* before,
                              std::uint32_t* after, std::uint32_t level)
      : s_{s}, parents_{s.in.neighbours, before}, before_{before}, after_{after}, level_{level} {}

  /// Processes this warp's share of the vertices. Calls `note(arcs)` for each vertex that found a
  /// parent, with the number of arcs that leave it.
  template <class Note>
  WARDEN_DEVICE void run(Note note) const {
    std::uint64_t const words = words_of(s_.out.vertices);
    std::uint64_t const warps =
        std::uint64_t{simt::block_count()} * (simt::block_threads() / simt::warp_size);
    for (std::uint64_t w =
             std::uint64_t{simt::block_rank()} * (simt::block_threads() / simt::warp_size) +
             simt::warp_rank();
         w < words; w += warps) {
      std::uint32_t const visited = before_[w];
      std::uint64_t const v = w * simt::warp_size + simt::lane_id();
      bool const looks = v < s_.out.vertices && (visited >> simt::lane_id() & 1) == 0;
      auto const vertex = static_cast<std::uint32_t>(v);
      row const arcs = looks ? row_of(s_.in, vertex) : row{0, 0};
      std::uint32_t const parent = parents_.in(arcs);
      bool const found = parent != unreached;
      unsigned const bits = simt::ballot(simt::full_warp, found);
      if (simt::lane_id() == 0) simt::store_relaxed(&after_[w], visited | bits);
      if (!found) continue;
      simt::store_relaxed(&s_.levels[vertex], level_ + 1);
      simt::store_relaxed(&s_.parents[vertex], parent);
      note(s_.out.offsets == s_.in.offsets ? arcs.arcs : row_of(s_.out, vertex).arcs);
    }
  }

 private:
  search_state const& s_;
  visited_neighbour parents_;
  std::uint32_t const* before_;
  std::uint32_t* after_;
  std::uint32_t level_;
};

}  // namespace breadth_first
