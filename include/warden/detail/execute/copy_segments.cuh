// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections that run on a copy of their record: the group of a segment holds the record in
/// registers from one section to the next.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/rows_ahead.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if the rows of the next sections of `Ref` are loaded while one runs. All sections have one
/// type.
template <class Ref>
inline constexpr bool loads_rows = [] {
  if constexpr (Ref::format::types == 1 && !Ref::has_answers) {
    return has_row<typename Ref::section> && !(Ref::filters_noops && Ref::in_order);
  } else {
    return false;
  }
}();
/// True if groups hold the records of `Ref` in registers.
template <class Ref>
inline constexpr bool runs_on_copies = [] {
  if constexpr (loads_rows<Ref> && !Ref::filters_noops) {
    return keeps_record<typename Ref::section>;
  } else {
    return false;
  }
}();
/// Result of `prepare` of the sections of `Ref`.
template <class Ref>
using prepared_in = prepared_of<typename Ref::section>;
/// True if sections of `Ref` are prepared before their turn in windows with a hot record.
template <class Ref>
inline constexpr bool prepares_ahead = runs_on_copies<Ref>&& prepares<typename Ref::section>;

/// Starts to load an object into the level-2 cache, from where the registers of a group get the
/// next few rows and records in time.
WARDEN_DEVICE void prefetch_object(void const* object, std::size_t bytes) {
  constexpr std::size_t line = 128;
  WARDEN_UNROLL
  for (std::size_t byte = 0; byte < bytes; byte += line)
    simt::prefetch(static_cast<std::byte const*>(object) + byte);
}

/// Sections of a window that run on copies of their records; none.
template <class Ref>
struct copy_segments {
  WARDEN_DEVICE copy_segments(Ref const&, simt::shared_span<typename Ref::message_type>,
                              simt::shared_span<prepared_in<Ref>>) {}
};
/// Sections of a window that run on copies of their records.
template <class Ref>
requires runs_on_copies<Ref>
class copy_segments<Ref> {
  using message_type = typename Ref::message_type;
  using section = typename Ref::section;
  using record = typename Ref::record;
  using context = typename Ref::context;
  using group = lane_group<Ref::group_size>;
  using prepared = prepared_in<Ref>;
  // 64 bytes for each lane. `prepare_all` has brought the rows into the cache. More take registers
  // that the receipt of windows then spills.
  using rows = rows_ahead<section, 64>;

 public:
  /// For the messages of a window, which will be sorted by owner thread. `values` has a place for
  /// each.
  WARDEN_DEVICE copy_segments(Ref const& ref, simt::shared_span<message_type> window,
                              simt::shared_span<prepared> values)
      : context_{ref.sections_context}, window_{window}, prepared_{values} {}

  /// Waits until the window of `total` messages is sorted. Returns true if a thread's segment of
  /// `count` messages is long: it takes so long that all groups together prepare the window's
  /// sections in less time than that saves. They are prepared then. Collective over the block.
  WARDEN_DEVICE bool sort_ended(std::uint32_t count, std::uint32_t total) const {
    std::uint32_t const groups = simt::block_threads() / group::lanes;
    bool const is_long = count * groups >= 2 * total && count >= 4 * rows::count;
    bool const is_hot = simt::sync_block_or(is_long);
    if constexpr (prepares<section>) {
      // In any case, so that no lane is late at a barrier: nvcc 13.0 may let the lanes of a warp
      // come to the first one at different times if the second one is in a branch.
      prepare_all(*this, is_hot ? total : 0);
      simt::sync_block();  // mutation: prepared-barrier
    }
    return is_hot;
  }

  /// Runs sections from `begin` on, which were prepared, as long as whole batches of them are for
  /// one record. Returns the first one that did not run; `end` is the end of the segment.
  WARDEN_DEVICE std::uint32_t run_batches(record_store<Ref> const& records, std::uint32_t begin,
                                          std::uint32_t end) const {
    std::uint32_t const local = window_[begin].local();
    if constexpr (takes_own_id<section, record, context>) {
      return run_on_copy_of(*this, records.at(local), records.address_of(local),
                            static_cast<record_id>(records.id_of(local)), begin, end);
    } else {
      return run_on_copy_of(*this, records.at(local), records.address_of(local),
                            unknown_record_id{}, begin, end);
    }
  }

 private:
  /// Prepares the `n` sections of the window. All threads of the block call it; a barrier follows.
  WARDEN_DEVICE static void prepare_all(copy_segments const of, std::uint32_t n) {
    // All rows are on their way before the first one is used.
    for (std::uint32_t i = simt::thread_rank(); i < n; i += simt::block_threads())
      prefetch_object(of.row_of_message(of.window_[i]).data(), row_of<section>::bytes);
    group const lanes;
    WARDEN_NO_UNROLL
    for (std::uint32_t first = simt::thread_rank() / group::lanes * rows::count; first < n;
         first += simt::block_threads() / group::lanes * rows::count) {
      rows loaded;
      WARDEN_UNROLL
      for (unsigned j = 0; j < rows::count; ++j)
        loaded.start(j, of.row_of_message(of.message_at(first + j, n)));
      WARDEN_UNROLL
      for (unsigned j = 0; j < rows::count; ++j) {
        auto const value = prepare(section_of(of.message_at(first + j, n)), loaded.take(j));
        if (lanes.lane() == 0 && first + j < n) of.prepared_[first + j] = value;
      }
    }
  }
  /// Runs batches of sections of the record at `place`.
  template <class Id>
  WARDEN_DEVICE static std::uint32_t run_on_copy_of(copy_segments const of, record* place,
                                                    record const* identity, Id id,
                                                    std::uint32_t begin, std::uint32_t end) {
    std::uint32_t const local = of.window_[begin].local();
    if (!of.is_batch(begin, end, local)) return begin;
    group const lanes;
    simt::group_enter(lanes.mask(), identity);
    auto copy = run_with_id(copy_loader<section>{}, *place, of.context_, id);
    rows ahead;
    WARDEN_UNROLL
    for (unsigned j = 0; j < rows::count; ++j)
      ahead.start(j, of.row_of_message(of.window_[begin + j]));
    std::uint32_t i = begin;
    do {
      // No branch, load or store of the record from here to the end of the batch, so that the
      // compiler interleaves the sections.
      WARDEN_UNROLL
      for (unsigned j = 0; j < rows::count; ++j) {
        section const one = section_of(of.window_[i + j]);
        auto const part = ahead.take(j);  // mutation: copy-row
        auto const row = of.row_of_message(of.message_at(i + rows::count + j, end));
        run_with_id(section_on_copy<section>{one, copy, part, of.value_of(i + j)}, *place,
                    of.context_, id);
        ahead.start(j, row);
      }
      i += rows::count;
    } while (of.is_batch(i, end, local));
    run_with_id(copy_storer<section>{copy}, *place, of.context_, id);
    simt::group_leave(lanes.mask(), identity);
    // The writes of each lane are visible to all in the next section.
    lanes.sync();
    return i;
  }

  /// True if a batch begins at `i`, and all its messages are for one record.
  WARDEN_DEVICE bool is_batch(std::uint32_t i, std::uint32_t end, std::uint32_t local) const {
    bool is_one = i + rows::count <= end;
    WARDEN_UNROLL
    for (unsigned j = 0; j < rows::count; ++j)
      is_one = message_at(i + j, end).local() == local && is_one;  // mutation: copy-batch
    return is_one;
  }
  /// Returns what section i prepared.
  WARDEN_DEVICE prepared value_of(std::uint32_t i) const {
    if constexpr (prepares<section>) {
      return prepared_[i];
    } else {
      return {};
    }
  }
  WARDEN_DEVICE static section section_of(message_type const& m) {
    return Ref::format::template unpack<section>(m);
  }
  WARDEN_DEVICE row_of<section> row_of_message(message_type const& m) const {
    return payload_of(section_of(m), context_);
  }
  /// Returns message i, or the last one before `end` if there is none.
  WARDEN_DEVICE message_type const& message_at(std::uint32_t i, std::uint32_t end) const {
    return window_[i < end ? i : end - 1];
  }

  context context_;
  simt::shared_span<message_type> window_;
  simt::shared_span<prepared> prepared_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
