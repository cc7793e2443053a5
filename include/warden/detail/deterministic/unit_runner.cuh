// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines the sections of units, and applies the results to the records.
#pragma once

#include <warden/detail/block/record_id.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/detail/deterministic/moved_section.cuh>
#include <warden/detail/deterministic/sorted_sections.cuh>
#include <warden/detail/deterministic/tree_parents.cuh>
#include <warden/detail/deterministic/tree_partial.cuh>
#include <warden/detail/deterministic/unit_list.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sections and records of a run. `Bulk` is a bulk_sections.
template <class Record, class Context, class Section, class Bulk>
struct tree_arguments {
  using bulk_type = Bulk;
  using record = Record;                                     ///< type of one protected item
  using section = Section;                                   ///< type of the sections
  using partial = tree_partial<Section>;                     ///< type that they combine to
  static constexpr unsigned lanes = group_size_of<Section>;  ///< lanes of a group

  Bulk bulk;                             ///< sections by number, see moved_section.cuh
  std::uint64_t first;                   ///< number of the first section
  std::uint32_t n;                       ///< numbers
  Record* records;                       ///< [size] records
  std::uint64_t size;                    ///< number of records
  Context context;                       ///< context of the sections
  guarded_report* report;                ///< gets bad ids
  tree_parents<partial, lanes> parents;  ///< memory of trees

  /// Returns the id of section i of the run. Precondition: an array has the ids.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t listed_id(std::uint32_t i) const {
    return bulk.function.ids[0][first + i];
  }
};

/// Runs the units of sorted sections. `Sorted` is searched_sections or bucket_sections.
template <class Arguments, class Sorted>
class unit_runner {
  using record = typename Arguments::record;
  using section = typename Arguments::section;
  using partial = typename Arguments::partial;

 public:
  WARDEN_DEVICE unit_runner(Arguments const& a, Sorted const& sorted) : a_{a}, sorted_{sorted} {}

  /// Runs the units that begin among the warp's positions from `first` to `end` - 1. Precondition:
  /// `first` is below `end` and the number of sections, and there are at most `Positions`.
  /// Collective over the warp.
  template <unsigned Positions>
  WARDEN_DEVICE void run(std::uint32_t first, std::uint32_t end,
                         unit_storage<Positions>& shared) const {
    unit_list<Sorted, Positions, unit_sections, node_sections> const nodes{sorted_, first, end,
                                                                           shared};
    unsigned const count = nodes.count(), group = simt::lane_id() / lanes;
    // Units stay together: a turn ends before one whose nodes do not fit.
    for (unsigned turn = 0, next; turn < count; turn = next) {
      next = turn + groups;
      next = next < count ? next - nodes.number_in_unit(next) : count;
      run_turn(nodes, turn + group, next);
    }
    simt::sync_warp(simt::full_warp);
  }
  /// Returns the value of the sections from position `begin` to `end` - 1, at most a strip.
  /// Precondition: one lane runs a section.
  [[nodiscard]] WARDEN_DEVICE partial strip(std::uint32_t begin, std::uint32_t end) const {
    static_assert(node_sections == strip_sections);
    return combined(begin, end);
  }
  /// Applies the value of a unit to its record, or goes on from the unit if the record has others.
  /// Collective over the group.
  WARDEN_DEVICE void finish(unit const& of, partial const& value) const {
    std::uint32_t const id = sorted_.first_id + sorted_.key(of.begin);
    if (id >= a_.size) return;
    if (of.begin == of.record_begin && of.end == of.record_end) return apply(of.begin, id, value);
    go_on(of, id, value);
  }

 private:
  static constexpr unsigned lanes = Arguments::lanes, groups = simt::warp_size / lanes;
  static constexpr std::uint32_t unit_sections = tree_unit<lanes>;
  /// Sections of a node, which a group combines: strips, if the warp has enough groups for a unit.
  static constexpr std::uint32_t node_sections =
      groups * strip_sections >= unit_sections ? strip_sections : unit_sections;
  static constexpr unsigned strips_of_band = band_sections / strip_sections,
                            bands_of_chunk = chunk_sections / band_sections;
  /// True if a record is loaded before its sections are combined.
  static constexpr bool is_copied = lanes == 1 && sizeof(record) <= 32;

  /// Combines node `c` of a list, unless it is `end` or later, and runs the units whose first nodes
  /// the groups have. Collective over the warp.
  template <class Nodes>
  WARDEN_DEVICE void run_turn(Nodes const& nodes, unsigned c, unsigned end) const {
    bool const has = c < end;
    unsigned const number = has ? nodes.number_in_unit(c) : 0;
    bool const is_first = has && number == 0;
    unsigned const left = nodes_left(is_first, has ? end - c : 1);
    bool const is_whole = is_first && nodes.is_whole(c, c + left);
    std::uint32_t const id = has ? sorted_.first_id + sorted_.key(nodes.begin(c)) : 0;
    [[maybe_unused]] partial_words<record> own;
    if constexpr (is_copied) {
      // Loaded while the sections are.
      if (is_whole && id < a_.size) {
        record const copy = a_.records[id];
        own = partial_words<record>{copy};
      }
    }
    partial_words<partial> words;
    if (has) words = partial_words<partial>{combined(nodes.begin(c), nodes.begin(c + 1))};
    if constexpr (node_sections < unit_sections) {
      join<strips_of_band, 1>(words, number % strips_of_band == 0 ? left : 1);
      if constexpr (unit_sections > band_sections)
        join<bands_of_chunk, strips_of_band>(words, is_first ? left : 1);
    }
    if (!is_first || id >= a_.size) return;
    std::uint32_t const begin = nodes.begin(c);
    if constexpr (is_copied) {
      if (is_whole) {
        record one = own.value();
        simt::section_enter(&a_.records[id]);
        run_with_id(runnable(begin, words.value()), one, a_.context, id_of(id));
        a_.records[id] = one;
        simt::section_leave(&a_.records[id]);
        return;
      }
    }
    if (is_whole) return apply(begin, id, words.value());
    go_on(nodes.unit_of(c, c + left), id, words.value());
  }
  /// Goes on from a unit to the root. Collective over the group.
  WARDEN_DEVICE void go_on(unit const& of, std::uint32_t id, partial const& value) const {
    std::uint32_t const before = sorted_.before;
    a_.parents.add(
        {of.begin + before, of.end + before, of.record_begin + before, of.record_end + before},
        value, [&](partial const& all) {
          apply(of.record_begin, id, all);  // mutation: row-first
        });
  }
  /// Returns the number of nodes from that of the calling group to the end of its unit, of which
  /// there are at most `most`. Collective over the warp, if units have several nodes.
  WARDEN_DEVICE static unsigned nodes_left(bool is_first, unsigned most) {
    if constexpr (node_sections == unit_sections) {
      return 1;
    } else {
      unsigned const firsts = simt::ballot(simt::full_warp, is_first);
      unsigned const here = simt::lane_id() / lanes,
                     later = firsts & ~(~0u >> (simt::warp_size - 1 - (here * lanes + lanes - 1)));
      unsigned const next =
          later == 0 ? groups : static_cast<unsigned>(simt::first_bit(later)) / lanes;
      return next - here < most ? next - here : most;
    }
  }
  /// Combines the values of up to `Most` nodes, each `Step` after the one before, from that of the
  /// calling group on. There are `left` from it on. Collective over the warp.
  template <unsigned Most, unsigned Step>
  WARDEN_DEVICE static void join(partial_words<partial>& words, unsigned left) {
    WARDEN_UNROLL
    for (unsigned k = Step; k < Most * Step; k += Step) {
      if (!simt::any(simt::full_warp, k < left)) return;
      partial_words<partial> other;
      WARDEN_UNROLL
      for (unsigned w = 0; w < words.count; ++w)
        other.at[w] = simt::shuffle(simt::full_warp, words.at[w],
                                    (simt::lane_id() + k * lanes) % simt::warp_size);
      if (k < left) combine_into(words, other);  // mutation: tree-join
    }
  }
  /// Returns the id of the record at a place.
  WARDEN_DEVICE record_id id_of(std::uint32_t place) const {
    if constexpr (requires { a_.bulk.own_id(place); }) {
      return a_.bulk.own_id(place);
    } else {
      return {place};
    }
  }
  struct four_partials {
    partial values[4];
  };
  /// Returns the value of the node from position `begin` to `end` - 1.
  WARDEN_DEVICE partial combined(std::uint32_t begin, std::uint32_t end) const {
    auto const leaf = [&](std::uint32_t p) {
      section const one = section_at(p < end ? p : end - 1);
      if constexpr (has_row<section>) {
        return partial{with_row(one, a_.context).part};
      } else {
        return made_partial<partial>(one);
      }
    };
    // Several sections at a time: their loads are in progress at the same time.
    auto const four = [&](std::uint32_t p) {
      return four_partials{{leaf(p), leaf(p + 1), leaf(p + 2), leaf(p + 3)}};
    };
    // Large ones take too many registers to be loaded while others are combined.
    constexpr bool is_ahead = sizeof(partial) <= 16;
    static_assert(strip_sections % 4 == 0);
    four_partials next = four(begin);
    partial strip = next.values[0], strips = strip;
    for (std::uint32_t p = begin;; p += 4) {
      four_partials const now = next;
      if (is_ahead && p + 4 < end) next = four(p + 4);
      bool const begins_strip =
          node_sections != strip_sections && (p - begin) % strip_sections == 0;
      if (begins_strip && p != begin) {
        strips = p - begin == strip_sections ? strip : partial::combine(strips, strip);
        strip = now.values[0];
      }
      WARDEN_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        if (p + j == begin || (begins_strip && j == 0) || p + j >= end) continue;
        strip = partial::combine(strip, now.values[j]);  // mutation: tree-leaf
      }
      if (p + 4 >= end)
        return end - begin <= strip_sections ? strip : partial::combine(strips, strip);
      if (!is_ahead) next = four(p + 4);
    }
  }
  /// Returns the section at a position.
  WARDEN_DEVICE section section_at(std::uint32_t p) const {
    return section_of_word<section>(a_.bulk, a_.first, sorted_.word(p));
  }
  /// Returns the section that applies `sum` to the record whose sections begin at a position.
  WARDEN_DEVICE auto runnable(std::uint32_t record_begin, partial const& sum) const {
    if constexpr (has_row<section>) {
      section const first = section_at(record_begin);
      return section_with_row<section>{first, sum.part};
    } else {
      return sum;
    }
  }
  WARDEN_DEVICE void apply(std::uint32_t record_begin, std::uint32_t id, partial const& all) const {
    auto const sum = runnable(record_begin, all);
    record& r = a_.records[id];
    record_id const own = id_of(id);
    if constexpr (Arguments::lanes == 1) {
      simt::section_enter(&r);
      run_with_id(sum, r, a_.context, own);
      simt::section_leave(&r);
    } else {
      lane_group<Arguments::lanes> const group;
      simt::group_enter(group.mask(), &r);
      run_with_id(sum, r, a_.context, own);
      simt::group_leave(group.mask(), &r);
    }
  }

  Arguments const& a_;
  Sorted const sorted_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
