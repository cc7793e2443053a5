// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels of a run with order::deterministic: one finds the records of the sections, and after
/// a stable sort one combines them and applies the results.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/record_id.cuh>
#include <warden/detail/deterministic/chunk_list.cuh>
#include <warden/detail/deterministic/tree_parents.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sections of a run in the order of a stable sort by record.
struct sorted_sections {
  std::uint32_t const* ids;      ///< [n] sorted; the number of records for no record
  std::uint32_t const* numbers;  ///< [n] numbers of the sections
  std::uint32_t n;               ///< numbers, with and without section
};

/// Arguments of `list_sections`.
template <class Bulk>
struct list_arguments {
  Bulk bulk;               ///< a bulk_sections
  std::uint64_t first;     ///< first number
  std::uint32_t n;         ///< numbers
  std::uint64_t records;   ///< number of records
  guarded_report* report;  ///< gets bad ids
  std::uint32_t* ids;      ///< [n] id of each section's record; `records` if there is none
  std::uint32_t* numbers;  ///< [n] 0, 1, 2, ...
};
/// Lists the records of all sections. Grid: any, one-dimensional.
template <class Bulk>
WARDEN_KERNEL void list_sections(list_arguments<Bulk> const a) {
  simt::assume_one_dimension();
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  for (std::uint64_t i = simt::block_rank() * simt::block_threads() + simt::thread_rank(); i < a.n;
       i += step) {
    std::uint64_t id = 0;
    bool const has_record = a.bulk.id_of(a.first + i, id) && a.report->check(id, a.records);
    a.ids[i] = static_cast<std::uint32_t>(has_record ? id : a.records);
    a.numbers[i] = static_cast<std::uint32_t>(i);
  }
}

/// Arguments of `run_trees`.
template <class Record, class Context, class Section, class Bulk>
struct tree_arguments {
  using record = Record;                                     ///< type of one protected item
  using section = Section;                                   ///< type of the sections
  using partial = partial_of<Section>;                       ///< type that they combine to
  static constexpr unsigned lanes = group_size_of<Section>;  ///< lanes of a group

  sorted_sections sorted;                ///< sections by record
  Bulk bulk;                             ///< a bulk_sections
  std::uint64_t first;                   ///< number of the first section
  Record* records;                       ///< [size] records
  std::uint64_t size;                    ///< number of records
  Context context;                       ///< context of the sections
  tree_parents<partial, lanes> parents;  ///< memory of trees
};

/// Combines the sections of chunks, by groups of lanes.
template <class Arguments>
class chunk_runner {
  using record = typename Arguments::record;
  using section = typename Arguments::section;
  using partial = typename Arguments::partial;

 public:
  WARDEN_DEVICE explicit chunk_runner(Arguments const& a) : a_{a} {}

  /// Combines a chunk's sections, and goes on to the root if this group finishes the last one of
  /// its siblings. Collective over the group.
  WARDEN_DEVICE void run(chunk const& c) const {
    std::uint32_t const id = a_.sorted.ids[c.begin];
    if (id >= a_.size) return;
    partial const sum = combined(c);
    if (c.is_whole()) return apply(id, sum);
    a_.parents.add(c, sum, [&](partial const& all) { apply(id, all); });
  }

 private:
  WARDEN_DEVICE partial combined(chunk const& c) const {
    auto const leaf = [&](std::uint32_t p) {
      std::uint32_t const number = a_.sorted.numbers[p < c.end ? p : c.end - 1];
      return made_partial<partial>(a_.bulk.section(a_.first + number));
    };
    partial sum = leaf(c.begin);
    // Several sections at a time: their loads are in progress at the same time.
    for (std::uint32_t p = c.begin + 1; p < c.end; p += 4) {
      partial const next[] = {leaf(p), leaf(p + 1), leaf(p + 2), leaf(p + 3)};
      WARDEN_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        if (p + j < c.end) sum = partial::combine(sum, next[j]);  // mutation: tree-leaf
      }
    }
    return sum;
  }
  WARDEN_DEVICE void apply(std::uint32_t id, partial const& sum) const {
    record& r = a_.records[id];
    record_id const own{id};
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
};

/// Combines and applies all sections. Launch with a chunk_list::storage for each warp as dynamic
/// shared memory, and a warp for each `chunk_list::positions` sections.
template <class Arguments>
WARDEN_KERNEL void run_trees(Arguments const a) {
  simt::assume_one_dimension();
  constexpr unsigned groups = simt::warp_size / Arguments::lanes;
  std::uint64_t const warp =
      (std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank()) /
      simt::warp_size;
  std::uint64_t const first = warp * chunk_list::positions;
  if (first >= a.sorted.n) return;
  auto& shared = reinterpret_cast<chunk_list::storage*>(simt::dynamic_shared())[simt::warp_rank()];
  chunk_list const chunks{a.sorted.ids, a.sorted.n, static_cast<std::uint32_t>(first), shared};
  chunk_runner<Arguments> const runner{a};
  for (unsigned c = simt::lane_id() / Arguments::lanes; c < chunks.count(); c += groups)
    runner.run(chunks[c]);
}

}  // namespace detail
WARDEN_NAMESPACE_END
