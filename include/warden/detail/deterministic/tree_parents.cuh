// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines the units of a record that has several, up to the root of its tree.
///
/// The group that finishes a unit stores its value, and counts it at the parent. The group that
/// finds all other children counted combines them, and goes on as the parent. So all warps work on
/// a hot record, no group waits, and the values do not depend on which group combined them.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/deterministic/combining_tree.cuh>
#include <warden/detail/deterministic/unit_list.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Largest number of sections of a unit, which a warp combines without memory for nodes: a chunk if
/// each lane combines a strip, and otherwise a band.
template <unsigned Lanes>
inline constexpr std::uint32_t tree_unit = Lanes == 1 ? chunk_sections : band_sections;

/// Memory for the inner nodes of all trees of a run over n positions, in global memory. Nodes of
/// all levels have the place of their first unit: a node overwrites its first child.
///
/// Unit c of a record whose first position is b has the place b / `tree_unit` + c. Only the last
/// unit of a record and the first one of the next can have the same, because a record with several
/// units has more than `tree_unit` positions. So first units have places of their own.
template <class Partial, unsigned Lanes>
struct tree_parents {
  Partial* partials;        ///< [2 places(n)][lane]
  std::uint32_t* children;  ///< [places(n)] finished children of parents; 0 between runs
  std::uint32_t stride;     ///< places(n)

  /// Returns the number of places for n positions.
  static constexpr std::size_t places(std::size_t n) { return n / unit_sections + 2; }

  /// Goes on from a unit with this value. Calls `apply(value)` if this group computes the root's.
  /// Precondition: the record has several units. Collective over the group.
  template <class Apply>
  WARDEN_DEVICE void add(unit const& of, Partial value, Apply const& apply) const {
    std::uint32_t const base = of.record_begin / unit_sections;
    std::uint32_t const units = (of.record_end - of.record_begin - 1) / unit_sections + 1;
    std::uint32_t first = (of.begin - of.record_begin) / unit_sections;
    std::uint64_t width = 1;  // units of a node
    for (std::uint32_t level = 0; width < units; ++level) {
      bool const is_chunk = level == 0 && unit_sections < chunk_sections;
      std::uint64_t const wide = width * (is_chunk ? chunk_sections / unit_sections : tree_fan_in);
      auto const parent = static_cast<std::uint32_t>(first - first % wide);
      std::uint64_t const covered = units - parent < wide ? units - parent : wide;
      auto const count = static_cast<std::uint32_t>((covered - 1) / width + 1);
      if (count > 1) {
        *partial(base, first) = value;
        // Parents of one first unit have different counters: those of level l begin at a multiple
        // of their width in units, and cover more than l units.
        if (!is_last(children[base + parent + level], count, partial(base, first))) return;
        value = combined(base, parent, width, count);
      }
      first = parent;
      width = wide;
    }
    apply(value);
  }

 private:
  using group = lane_group<Lanes>;
  static constexpr std::uint32_t unit_sections = tree_unit<Lanes>;

  /// Returns this lane's part of the node whose first unit is `first`.
  WARDEN_DEVICE Partial* partial(std::uint32_t base, std::uint32_t first) const {
    std::uint64_t const place = base + first + (first == 0 ? stride : 0);
    return partials + place * Lanes + group{}.lane();
  }
  /// Counts a finished child, whose value is at `own`. Returns true if all `count` are.
  WARDEN_DEVICE static bool is_last(std::uint32_t& counter, std::uint32_t count, Partial* own) {
    simt::note_written(own);
    group{}.sync();
    std::uint32_t before = 0;
    if (group{}.lane() == 0) {
      // Release: all lanes of the group have stored their parts.
      simt::fence_device();  // mutation: tree-release
      before = simt::fetch_add(&counter, 1u);
      if (before + 1 == count) {
        // Acquire: the other children were counted after such fences.
        simt::fence_device();  // mutation: tree-acquire
        // The next run counts from 0.
        simt::store_relaxed(&counter, 0u);  // mutation: tree-reset
      }
    }
    group{}.sync();
    before = group{}.shuffle(before, 0);
    return before + 1 == count;
  }
  /// Returns the value of the parent of `count` nodes of `width` units.
  WARDEN_DEVICE Partial combined(std::uint32_t base, std::uint32_t parent, std::uint64_t width,
                                 std::uint32_t count) const {
    auto const child = [&](std::uint32_t k) -> Partial const& {
      std::uint32_t const last = k < count ? k : count - 1;
      Partial const* const from = partial(base, static_cast<std::uint32_t>(parent + last * width));
      simt::demand_visible(from);
      return *from;
    };
    Partial sum = child(0);
    // As many at a time as the registers hold: the last parents of a hot record end the run.
    constexpr unsigned together = sizeof(Partial) <= 8 ? 16 : sizeof(Partial) <= 16 ? 8 : 4;
    struct children {
      Partial values[together];
    };
    auto const load = [&]<std::size_t... J>(std::uint32_t k, std::index_sequence<J...>) {
      return children{{child(k + J)...}};
    };
    for (std::uint32_t k = 1; k < count; k += together) {
      children const next = load(k, std::make_index_sequence<together>{});
      WARDEN_UNROLL
      for (unsigned j = 0; j < together; ++j) {
        if (k + j < count) sum = Partial::combine(sum, next.values[j]);
      }
    }
    return sum;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
