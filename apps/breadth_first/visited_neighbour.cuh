// SPDX-License-Identifier: Apache-2.0
/// @file
/// First visited neighbour of a vertex: its parent in a bottom-up level.
#pragma once

#include "apps/breadth_first/state.cuh"

#include <cstdint>

namespace breadth_first {

/// Searches for visited neighbours, one row per lane of a warp.
class visited_neighbour {
 public:
  /// `visited` has a bit for each vertex. No thread changes it before the next barrier: plain
  /// loads.
  WARDEN_DEVICE visited_neighbour(graph::vertex const* neighbours, std::uint32_t const* visited)
      : neighbours_{neighbours}, visited_{visited} {}

  /// Returns a visited neighbour of each lane's row, or `unreached`. Collective over the warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t in(row const& mine) const {
    std::uint32_t parent = unreached;
    std::uint32_t const alone = mine.arcs < most_alone ? mine.arcs : most_alone;
    for (std::uint32_t first = 0; first < alone && parent == unreached; first += at_once) {
      std::uint32_t u[at_once];
      bool is[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        u[k] = first + k < alone ? neighbours_[mine.begin + first + k] : unreached;
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) is[k] = u[k] != unreached && is_visited(u[k]);
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (is[k]) parent = u[k];
      }
    }
    unsigned left = simt::ballot(simt::full_warp, parent == unreached && mine.arcs > most_alone);
    while (left != 0) {
      auto const lane = static_cast<unsigned>(simt::first_bit(left));
      left &= left - 1;
      std::uint32_t const found = ask_together({simt::shuffle(simt::full_warp, mine.begin, lane),
                                                simt::shuffle(simt::full_warp, mine.arcs, lane)});
      if (simt::lane_id() == lane) parent = found;
    }
    return parent;
  }

 private:
  static constexpr unsigned at_once = 4;  ///< neighbours whose loads overlap
  /// Largest number of neighbours that a lane tests by itself. In most rows one of the first is
  /// visited.
  static constexpr std::uint32_t most_alone = simt::has_registers ? 128 : 8;

  [[nodiscard]] WARDEN_DEVICE bool is_visited(std::uint32_t v) const {
    return (visited_[v / 32] & bit_of(v)) != 0;
  }
  /// Searches the rest of a long row by the whole warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t ask_together(row const& its) const {
    for (std::uint32_t first = most_alone; first < its.arcs; first += simt::warp_size) {
      std::uint32_t const i = first + simt::lane_id();
      std::uint32_t const u = i < its.arcs ? neighbours_[its.begin + i] : unreached;
      unsigned const found = simt::ballot(simt::full_warp, u != unreached && is_visited(u));
      if (found != 0) {
        return simt::shuffle(simt::full_warp, u, static_cast<unsigned>(simt::first_bit(found)));
      }
    }
    return unreached;
  }

  graph::vertex const* neighbours_;
  std::uint32_t const* visited_;
};

}  // namespace breadth_first
