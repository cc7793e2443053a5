// SPDX-License-Identifier: Apache-2.0
/// @file
/// A level bottom-up [Beamer 2012]: who has not been visited looks for a parent among its own
/// neighbours, and stops at the first.
#pragma once

#include "apps/breadth_first/state.cuh"
#include "apps/breadth_first/visited_neighbour.cuh"

#include <cstdint>

namespace breadth_first {

/// Looks for parents, a warp for each word of 32 vertices.
///
/// A neighbour that had been visited when the level began is one of the last level: had it been
/// visited before, all that it leads to would be visited by now. So the bits of the level's
/// beginning are all that is read, and nobody has to be asked what level it has. The bits behind
/// the level are others, each word written by one warp.
class parent_search {
 public:
  /// `before` has the bits of the level's beginning, `behind` gets those of its end. Nothing
  /// changes `before` until a barrier, and nothing has since the last one: plain loads, which a
  /// multiprocessor may keep.
  WARDEN_DEVICE parent_search(search_state const& s, std::uint32_t const* before,
                              std::uint32_t* behind, std::uint32_t level)
      : s_{s}, parents_{s.in.neighbours, before}, before_{before}, behind_{behind}, level_{level} {}

  /// The grid's share of this warp. `note(arcs)` is called for each vertex that found a parent,
  /// with the number of arcs that leave it.
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
      if (simt::lane_id() == 0) simt::store_relaxed(&behind_[w], visited | bits);
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
  std::uint32_t* behind_;
  std::uint32_t level_;
};

}  // namespace breadth_first
