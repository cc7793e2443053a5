// SPDX-License-Identifier: Apache-2.0
/// @file
/// Breadth-first search against the residual arcs, level by level. It finds the distance of every
/// vertex from the terminal that excess goes to.
#pragma once

#include "apps/max_flow/state.cuh"
#include "apps/support/device.cuh"

#include <cstdint>

namespace max_flow {

/// Returns a frontier's vertex as one word: the range of its arcs. Its number is not needed. A row
/// of 2^32 arcs has length 0 here; all of its arcs are loops.
WARDEN_DEVICE std::uint64_t packed_row(vertex_state::arc_range const& arcs) {
  return std::uint64_t{arcs.number} << 32 | arcs.first;
}
WARDEN_DEVICE row unpacked_row(std::uint64_t packed) {
  std::uint64_t const begin = packed & 0xffffffff;
  return {begin, begin + (packed >> 32)};
}

/// Arguments of a search. A vertex's height is its level.
///
/// The search ends when all vertices with excess have been reached. The other vertices are farther
/// away than the last level, so the last level plus one is a lower bound of their distance, and so
/// is their old height. The larger of both keeps heights lower bounds of distances, and no residual
/// arc leads down by more than one. A vertex that was cut off before stays cut off, and the search
/// does not wait for it.
struct search {
  max_flow::network network;
  flow_state state;
  std::uint32_t target;  ///< the terminal that excess goes to
  bool is_first;         ///< first search from `target`; heights are not known yet
  /// If no vertex has excess that may get there, the search finds all vertices that can reach the
  /// target.
  bool finds_side;

  [[nodiscard]] WARDEN_DEVICE bool has_excess(std::uint32_t v) const {
    return state.vertices[v].excess != 0;
  }
  /// Returns the number of found vertices with excess at which the search ends. It is never reached
  /// if the search finds the side.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t enough() const {
    std::uint64_t const wanted = simt::load_relaxed(&state.control->search.wanted);
    return wanted == 0 && finds_side ? ~std::uint64_t{0} : wanted;
  }
  /// Returns true if the vertex at the end of `back` may push along the reverse arc.
  WARDEN_DEVICE static bool leads_here(arc const& back) { return back.residual != back.both; }
  /// Sets the height of `v`, a neighbour of a vertex of `level`, if it is not reached yet. Returns
  /// the old height. Exactly one thread gets the height of an unreached vertex, and puts the vertex
  /// into the next frontier.
  WARDEN_DEVICE std::uint32_t claim(std::uint32_t level, std::uint32_t v) const {
    return simt::compare_exchange(&state.heights[0][v], network.vertices, level + 1);
  }
};

/// Step of a search between two barriers of the grid: one level by all blocks, or some levels by
/// one cluster. Its frontier has index `number` modulo 2.
struct search_step {
  std::uint32_t number;
  std::uint32_t level;
  std::uint64_t n;           ///< vertices of the frontier
  std::uint64_t found_here;  ///< vertices of the frontier with excess
  std::uint64_t found;       ///< vertices with excess found before
  std::uint64_t enough;      ///< number of found vertices at which the search ends

  /// Loads the first step, after a barrier. Called by one thread of a block, which then broadcasts
  /// it. A step writes words of the next step that no block still reads for this step.
  WARDEN_DEVICE void begin(search const& a) { begin(a, 0); }
  WARDEN_DEVICE void next(search const& a) { begin(a, number + 1); }
  /// Returns true if no vertex is left or enough vertices are found.
  [[nodiscard]] WARDEN_DEVICE bool is_last() const { return n == 0 || found == enough; }
  /// Sets the level of the next step, and the number of vertices found before it. Called by one
  /// thread of one block.
  WARDEN_DEVICE void goes_on_at(control& c, std::uint32_t next_level,
                                std::uint64_t found_before) const {
    c.step_level[(number + 1) % 2] = next_level;
    c.search.found[(number + 1) % 2] = found_before;
  }
  /// Returns the address of the number of vertices in the next frontier; 0 at the beginning of this
  /// step.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t* next_n(control& c) const {
    return &c.reached[(number + 1) % 3];
  }
  /// Returns the address of the number of these vertices with excess.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t* next_found(control& c) const {
    return &c.search.found_here[(number + 1) % 3];
  }
  /// Clears the counts of the step after the next. Called by one thread of one block.
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
  // Whole warps iterate together, so that every lane reaches the collectives.
  for (std::uint64_t first = warp * rows; first < n; first += warps * rows) {
    std::uint64_t const i = first + simt::lane_id() / Lanes;
    row const mine = i < n ? at(i) : row{0, 0};
    unsigned const lane = simt::lane_id() % Lanes;
    bool const is_long = mine.end - mine.begin > most_of_few_lanes;
    unsigned left = simt::ballot(simt::full_warp, is_long && lane == 0);
    row now{mine.begin + lane, is_long ? 0 : mine.end};
    unsigned stride = Lanes;
    // One call for rows of both lengths, because the code of `to` is long.
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

/// Vertices that a block reaches in a level, in dynamic shared memory. The block reserves places in
/// the next frontier for all of them together, because single atomics on the frontier's count would
/// be slow.
struct reached_here {
  static constexpr std::uint32_t room = simt::has_registers ? 2048 : 8;
  std::uint32_t n;            ///< vertices appended, including those without room
  std::uint32_t with_excess;  ///< number of these with excess
  std::uint32_t first;        ///< first place in the next frontier
  std::uint64_t rows[room];
};

/// Number of lanes that share a row of a wide level, and of arcs that a lane loads together: as
/// many rows as possible together, without spills.
inline constexpr unsigned wide_lanes = 4, wide_arcs = 3;

/// Expands a level by all blocks. The end of a frontier's arc is reached if its reverse arc has
/// residual capacity. The whole grid shares the row of the target, which may have arcs to all
/// vertices.
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
  // All loads are issued before a result is used.
  auto const reach = [&](std::uint64_t first, std::uint64_t end, std::uint64_t stride) {
    for (; first < end; first += wide_arcs * stride) {
      std::uint32_t v[wide_arcs]{}, height[wide_arcs]{};
      bool leads[wide_arcs]{};
      vertex_state neighbour[wide_arcs]{};
      WARDEN_UNROLL
      for (unsigned k = 0; k < wide_arcs; ++k) {
        if (first + k * stride >= end) continue;
        arc const back = a.state.arcs[first + k * stride];
        v[k] = back.ends.to;
        // No path leads through the other terminal, because excess stays there.
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
        neighbour[k] = a.state.vertices[v[k]];
      }
      std::uint32_t with_excess = 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < wide_arcs; ++k) {
        leads[k] = leads[k] && height[k] == net.vertices;
        if (leads[k]) with_excess += neighbour[k].excess != 0 ? 1 : 0;
      }
      if (with_excess != 0) simt::shared_fetch_add(here.with_excess, with_excess);
      WARDEN_UNROLL
      for (unsigned k = 0; k < wide_arcs; ++k) {
        if (!leads[k]) continue;
        std::uint32_t const at = simt::shared_fetch_add(here.n, 1u);
        std::uint64_t const packed = packed_row(neighbour[k].arcs);
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
