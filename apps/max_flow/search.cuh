// SPDX-License-Identifier: Apache-2.0
/// @file
/// A breadth-first search against the residual arcs, level by level: the distance of every vertex
/// from the terminal that excess goes to.
#pragma once

#include "apps/max_flow/state.cuh"
#include "apps/support/device.cuh"

#include <cstdint>

namespace max_flow {

/// A vertex of a frontier as one word: the place of its arcs. Its number is not needed. (A row of
/// 2^32 arcs, which would have length 0, would be all loops and lead nowhere.)
WARDEN_DEVICE std::uint64_t packed_row(vertex_state::arc_range const& arcs) {
  return std::uint64_t{arcs.number} << 32 | arcs.first;
}
WARDEN_DEVICE row unpacked_row(std::uint64_t packed) {
  std::uint64_t const begin = packed & 0xffffffff;
  return {begin, begin + (packed >> 32)};
}

/// A search, for its kernel. A vertex's height is its level.
///
/// It ends when all vertices with excess have been reached. The others are farther away than the
/// last level, so the last level plus one is a lower bound of their distance, and so is their old
/// height. The larger of both keeps heights lower bounds of distances, and no residual arc leads
/// down by more than one. A vertex that was cut off before stays cut off, and the search does not
/// wait for it.
struct search {
  max_flow::network network;
  flow_state state;
  std::uint32_t target;  ///< the terminal that excess goes to
  bool is_first;         ///< from there: nothing is known of heights
  /// If no vertex has excess that may get there, the search finds all vertices that can reach the
  /// target.
  bool finds_side;

  [[nodiscard]] WARDEN_DEVICE bool has_excess(std::uint32_t v) const {
    return state.vertices[v].excess != 0;
  }
  /// How many of them are enough: no number is, where all are looked for.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t enough() const {
    std::uint64_t const wanted = simt::load_relaxed(&state.control->search.wanted);
    return wanted == 0 && finds_side ? ~std::uint64_t{0} : wanted;
  }
  /// True if the vertex at the end of `back`, an arc of a vertex, may push to that vertex.
  WARDEN_DEVICE static bool leads_here(arc const& back) { return back.residual != back.both; }
  /// Gives `v`, to which a vertex of `level` leads, its height. Returns the old one: that of an
  /// unreached vertex for one thread, which then puts it into the next frontier.
  WARDEN_DEVICE std::uint32_t claim(std::uint32_t level, std::uint32_t v) const {
    return simt::compare_exchange(&state.heights[0][v], network.vertices, level + 1);
  }
};

/// Work between two barriers of the grid: a level by all blocks, or some levels by one cluster. Its
/// frontier is number `number` modulo 2.
struct search_step {
  std::uint32_t number;
  std::uint32_t level;
  std::uint64_t n;           ///< vertices of the frontier
  std::uint64_t found_here;  ///< those with excess
  std::uint64_t found;       ///< before
  std::uint64_t enough;      ///< at this number it ends: a cluster knows no more when it begins

  /// The first step, after a barrier; by one thread of a block, which then tells the others. A step
  /// writes for the next one into words that no block reads that is late for this one.
  WARDEN_DEVICE void begin(search const& a) { begin(a, 0); }
  WARDEN_DEVICE void next(search const& a) { begin(a, number + 1); }
  /// No vertex is left, or no other is looked for.
  [[nodiscard]] WARDEN_DEVICE bool is_last() const { return n == 0 || found == enough; }
  /// By one thread of one block: notes the level of the next step, and the number of vertices found
  /// before it.
  WARDEN_DEVICE void goes_on_at(control& c, std::uint32_t next_level,
                                std::uint64_t found_before) const {
    c.step_level[(number + 1) % 2] = next_level;
    c.search.found[(number + 1) % 2] = found_before;
  }
  /// Number of vertices in the frontier of the next step, 0 when this one begins.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t* next_n(control& c) const {
    return &c.reached[(number + 1) % 3];
  }
  /// Number of them with excess.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t* next_found(control& c) const {
    return &c.search.found_here[(number + 1) % 3];
  }
  /// By one thread of one block: clears it for the step after the next.
  WARDEN_DEVICE void make_room(control& c) const {
    c.reached[(number + 2) % 3] = 0;
    c.search.found_here[(number + 2) % 3] = 0;
  }

 private:
  WARDEN_DEVICE void begin(search const& a, std::uint32_t this_number) {
    control const& c = *a.state.control;
    number = this_number;
    level = simt::load_relaxed(&c.step_level[number % 2]);
    n = simt::load_relaxed(&c.reached[number % 3]);
    found_here = simt::load_relaxed(&c.search.found_here[number % 3]);
    found = simt::load_relaxed(&c.search.found[number % 2]);
    enough = a.enough();
  }
};

/// Follows the `n` rows `at(i)` of a frontier, by `warps` warps, of which this is number `warp`.
/// `Lanes` lanes take the arcs of one row in turn, a warp those of a long one. Calls `to(arc, end,
/// stride)`: the lane's arcs are `arc`, `arc + stride` and so on, below `end`.
template <unsigned Lanes, class At, class To>
WARDEN_DEVICE void for_rows(std::uint64_t n, std::uint64_t warp, std::uint64_t warps, At at,
                            To to) {
  constexpr unsigned rows = simt::warp_size / Lanes;
  constexpr std::uint64_t most_of_few_lanes = 64;
  // Iterations of whole warps: every lane comes to the collectives.
  for (std::uint64_t first = warp * rows; first < n; first += warps * rows) {
    std::uint64_t const i = first + simt::lane_id() / Lanes;
    row const mine = i < n ? at(i) : row{0, 0};
    unsigned const lane = simt::lane_id() % Lanes;
    bool const is_long = mine.end - mine.begin > most_of_few_lanes;
    unsigned left = simt::ballot(simt::full_warp, is_long && lane == 0);
    row now{mine.begin + lane, is_long ? 0 : mine.end};
    unsigned stride = Lanes;
    // One place in the code for both: `to` is long.
    WARDEN_NO_UNROLL
    while (true) {
      to(now.begin, now.end, stride);
      if (left == 0) break;
      auto const of = static_cast<unsigned>(simt::first_bit(left));
      left &= left - 1;  // mutation: flow-rows
      now.begin = simt::shuffle(simt::full_warp, mine.begin, of) + simt::lane_id();
      now.end = simt::shuffle(simt::full_warp, mine.end, of);
      stride = simt::warp_size;
    }
  }
}

/// Vertices that a block reaches in a level, in its dynamic shared memory: it takes places for all
/// of them at once, because single requests would wait for the word that counts them.
struct reached_here {
  static constexpr std::uint32_t room = simt::has_registers ? 2048 : 8;
  std::uint32_t n;            ///< that were to be put here
  std::uint32_t with_excess;  ///< those of all with excess
  std::uint32_t first;        ///< place in the next frontier
  std::uint64_t rows[room];
};

/// Lanes that share a row of a wide level, and arcs that each looks at together: as many rows as
/// possible at once, without spills.
inline constexpr unsigned wide_lanes = 4, wide_arcs = 3;

/// A level, by all blocks. What an arc of the frontier leads to is reached if there is residual
/// capacity from there. The row of the target, which may lead to all vertices, is the whole grid's.
WARDEN_DEVICE void search_wide_level(search const& a, search_step const& now, reached_here& here) {
  network const& net = a.network;
  control& c = *a.state.control;
  std::uint32_t const level = now.level;
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) {
    now.make_room(c);
    now.goes_on_at(c, level + 1, now.found + now.found_here);
    a.state.levels[level] = static_cast<std::uint32_t>(now.n);
  }
  if (simt::thread_rank() == 0) {
    simt::shared_store(here.n, 0u);
    simt::shared_store(here.with_excess, 0u);
  }
  simt::sync_block();
  std::uint64_t const warps = simt::block_threads() / simt::warp_size;
  std::uint64_t* const next_frontier = a.state.frontier_in(now.number + 1);
  // All is asked for, arc by arc, before an answer is looked at.
  auto const reach = [&](std::uint64_t first, std::uint64_t end, std::uint64_t stride) {
    for (; first < end; first += wide_arcs * stride) {
      std::uint32_t v[wide_arcs]{}, height[wide_arcs]{};
      bool leads[wide_arcs]{};
      vertex_state its[wide_arcs]{};
      WARDEN_UNROLL
      for (unsigned k = 0; k < wide_arcs; ++k) {
        if (first + k * stride >= end) continue;
        arc const back = a.state.arcs[first + k * stride];
        v[k] = back.ends.to;
        // No way leads through the other terminal, where excess stays.
        leads[k] = a.leads_here(back) && !net.is_terminal(v[k]);
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < wide_arcs; ++k)
        if (leads[k]) height[k] = simt::load_relaxed(&a.state.heights[0][v[k]]);
      WARDEN_UNROLL
      for (unsigned k = 0; k < wide_arcs; ++k) {
        leads[k] = leads[k] && height[k] == net.vertices;
        if (!leads[k]) continue;
        height[k] = a.claim(level, v[k]);
        its[k] = a.state.vertices[v[k]];
      }
      std::uint32_t with_excess = 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < wide_arcs; ++k) {
        leads[k] = leads[k] && height[k] == net.vertices;
        if (leads[k]) with_excess += its[k].excess != 0 ? 1 : 0;
      }
      if (with_excess != 0) simt::shared_fetch_add(here.with_excess, with_excess);
      WARDEN_UNROLL
      for (unsigned k = 0; k < wide_arcs; ++k) {
        if (!leads[k]) continue;
        std::uint32_t const at = simt::shared_fetch_add(here.n, 1u);
        std::uint64_t const packed = packed_row(its[k].arcs);
        if (at < here.room) {
          simt::shared_store(here.rows[at], packed);
        } else {
          next_frontier[simt::fetch_add_together(now.next_n(c), 1)] = packed;
        }
      }
    }
  };
  if (level == 0) {
    row const all = unpacked_row(a.state.frontier_in(now.number)[0]);
    std::uint64_t const threads = simt::block_threads();
    reach(all.begin + simt::block_rank() * threads + simt::thread_rank(), all.end,
          simt::block_count() * threads);
  } else {
    std::uint64_t const* const frontier = a.state.frontier_in(now.number);
    for_rows<wide_lanes>(
        now.n, simt::block_rank() * warps + simt::warp_rank(), simt::block_count() * warps,
        [&](std::uint64_t i) { return unpacked_row(frontier[i]); }, reach);
  }
  simt::sync_block();
  std::uint32_t const put = simt::shared_load(here.n), n = put < here.room ? put : here.room;
  if (simt::thread_rank() == 0 && n != 0) {
    auto const first = simt::fetch_add(now.next_n(c), std::uint64_t{n});
    simt::shared_store(here.first, static_cast<std::uint32_t>(first));
    if (std::uint32_t const found = simt::shared_load(here.with_excess); found != 0)
      simt::add(now.next_found(c), std::uint64_t{found});
  }
  simt::sync_block();
  for (std::uint32_t i = simt::thread_rank(); i < n; i += simt::block_threads())
    next_frontier[simt::shared_load(here.first) + i] = simt::shared_load(here.rows[i]);
}

}  // namespace max_flow
