// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines the sections of chunks, and applies the results to the records.
#pragma once

#include <warden/detail/block/record_id.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/detail/deterministic/chunk_list.cuh>
#include <warden/detail/deterministic/moved_section.cuh>
#include <warden/detail/deterministic/sorted_sections.cuh>
#include <warden/detail/deterministic/tree_parents.cuh>
#include <warden/detail/deterministic/tree_partial.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sections and records of a run. `Bulk` is a bulk_sections.
template <class Record, class Context, class Section, class Bulk>
struct tree_arguments {
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
};

/// Runs the chunks of sorted sections. `Sorted` is searched_sections or bucket_sections.
template <class Arguments, class Sorted>
class chunk_runner {
  using record = typename Arguments::record;
  using section = typename Arguments::section;
  using partial = typename Arguments::partial;

 public:
  WARDEN_DEVICE chunk_runner(Arguments const& a, Sorted const& sorted) : a_{a}, sorted_{sorted} {}

  /// Runs the chunks that begin among the warp's positions from `first` to `end` - 1. Precondition:
  /// `first` is below `end` and the number of sections, and there are at most `Positions`.
  /// Collective over the warp.
  template <unsigned Positions>
  WARDEN_DEVICE void run(std::uint32_t first, std::uint32_t end,
                         chunk_storage<Positions>& shared) const {
    constexpr unsigned groups = simt::warp_size / Arguments::lanes;
    chunk_list<Sorted, Positions> const chunks{sorted_, first, end, shared};
    for (unsigned c = simt::lane_id() / Arguments::lanes; c < chunks.count(); c += groups)
      run(chunks[c]);
    simt::sync_warp(simt::full_warp);
  }

 private:
  /// True if a record is loaded before its sections are combined.
  static constexpr bool is_copied = Arguments::lanes == 1 && sizeof(record) <= 32;

  /// Combines a chunk's sections, and goes on to the root if this group finishes the last one of
  /// its siblings. Collective over the group.
  WARDEN_DEVICE void run(chunk const& c) const {
    std::uint32_t const id = sorted_.first_id + sorted_.keys[c.begin];
    if (id >= a_.size) return;
    if constexpr (is_copied) {
      if (c.is_whole()) {
        // Loaded while the sections are.
        record own = a_.records[id];
        partial const sum = combined(c);
        simt::section_enter(&a_.records[id]);
        run_with_id(runnable(c, sum), own, a_.context, id_of(id));
        a_.records[id] = own;
        simt::section_leave(&a_.records[id]);
        return;
      }
    }
    partial const sum = combined(c);
    if (c.is_whole()) return apply(c, id, sum);
    std::uint32_t const before = sorted_.before;
    a_.parents.add(
        {c.begin + before, c.end + before, c.record_begin + before, c.record_end + before}, sum,
        [&](partial const& all) { apply(c, id, all); });
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
  WARDEN_DEVICE partial combined(chunk const& c) const {
    auto const leaf = [&](std::uint32_t p) {
      section const one = section_at(p < c.end ? p : c.end - 1);
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
    four_partials next = four(c.begin);
    partial sum = next.values[0];
    for (std::uint32_t p = c.begin;; p += 4) {
      four_partials const now = next;
      if (is_ahead && p + 4 < c.end) next = four(p + 4);
      WARDEN_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        if (p + j == c.begin || p + j >= c.end) continue;
        sum = partial::combine(sum, now.values[j]);  // mutation: tree-leaf
      }
      if (p + 4 >= c.end) return sum;
      if (!is_ahead) next = four(p + 4);
    }
  }
  /// Returns the section at a position.
  WARDEN_DEVICE section section_at(std::uint32_t p) const {
    return section_of_word<section>(a_.bulk, a_.first, sorted_.words[p]);
  }
  /// Returns the section that applies `sum` to the record of a chunk.
  WARDEN_DEVICE auto runnable(chunk const& c, partial const& sum) const {
    if constexpr (has_row<section>) {
      section const first = section_at(c.record_begin);  // mutation: row-first
      return section_with_row<section>{first, sum.part};
    } else {
      return sum;
    }
  }
  WARDEN_DEVICE void apply(chunk const& c, std::uint32_t id, partial const& all) const {
    auto const sum = runnable(c, all);
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
