// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sections of a log by number. If they have an order: by launch, block, send and thread.
#pragma once

#include <warden/detail/block/record_id.cuh>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/deterministic/moved_section.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sections of a log, which has one partition, by number. A bulk of as many numbers as the log has
/// places; the last ones have no section.
template <class Ref>
struct log_sections {
  /// True if a run moves sections instead of their numbers.
  static constexpr bool moves_sections = fits_number<typename Ref::section>;
  static constexpr bool has_all_ids = false;
  /// Messages by place.
  using messages_type = message_places<typename Ref::message_type>;
  /// True if `locals` is filled: ids are read twice, which takes longer from long messages, or by
  /// places, than from a list. Messages with a section of 4 bytes are short.
  static constexpr bool lists_ids = !moves_sections;

  messages_type messages;
  std::uint32_t const* places;    ///< [section] its place
  std::uint32_t const* locals;    ///< [section] local number of its record, if listed
  std::uint32_t const* count;     ///< number of sections
  typename Ref::numbers numbers;  ///< numbers of the records in messages

  /// Returns true if number `i` has a section. Sets the place of its record.
  WARDEN_DEVICE bool id_of(std::uint64_t i, std::uint64_t& id) const {
    if (i >= *count) return false;
    id = numbers.own(lists_ids ? locals[i] : messages.local(places[i]));
    return true;
  }
  /// Returns the id of the record at a place: on several GPUs the place is one of this rank's
  /// share. Sections that take no id need no map.
  WARDEN_DEVICE record_id own_id(std::uint32_t place) const {
    if constexpr (requires { numbers.id_of(place); }) {
      return numbers.id_of(place);
    } else {
      return {place};
    }
  }
  /// Returns the place of section number `i`, which runs move in place of the number.
  WARDEN_DEVICE std::uint32_t place(std::uint64_t i) const { return places[i]; }
  /// Returns the section at a place.
  WARDEN_DEVICE typename Ref::section section_at(std::uint32_t place) const {
    return messages.template section<typename Ref::format, typename Ref::section>(place);
  }
  /// Returns section number `i`.
  WARDEN_DEVICE typename Ref::section section(std::uint64_t i) const {
    return section_at(places[i]);
  }
};

/// Arguments of the kernels below.
template <class Ref>
struct place_arguments {
  run_arguments<Ref> run;
  std::uint32_t* befores;  ///< [turn] messages in the batches before
  std::uint32_t* places;   ///< [section] its place
  std::uint32_t* locals;   ///< [section] local number of its record, if listed
  std::uint32_t* count;    ///< number of sections; 0 if the log is not run

  /// Returns the messages of the batch whose turn is `turn`.
  [[nodiscard]] WARDEN_DEVICE log_places batch(std::uint32_t turn) const {
    auto const& log = run.ref.log;
    if constexpr (!Ref::in_order) {
      return log.segment(0, turn);
    } else {
      std::uint32_t const row = log.order.rows[turn];
      return row == log.no_row ? log_places{0, 0} : log.segment(0, row);
    }
  }
};

/// Threads of the block that adds up the batches.
inline constexpr unsigned adding_threads = 1024;
/// Adds up the messages of all batches. One block.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(adding_threads, 1) add_up_batches(place_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  using scan = simt::block_scan_by_warps<adding_threads>;
  auto& storage = *reinterpret_cast<typename scan::storage*>(simt::dynamic_shared());
  constexpr unsigned each = 8;
  std::uint32_t done = 0;
  // One thread reads it for all, because a kernel that is sending may take rows at the same time.
  std::uint32_t rows;
  scan::exclusive_sum(
      storage, simt::thread_rank() == 0 && a.run.runs() ? a.run.ref.log.rows_written() : 0, rows);
  for (std::uint32_t first = 0; first < rows; first += adding_threads * each) {
    std::uint32_t const mine = first + simt::thread_rank() * each;
    std::uint32_t counts[each], sum = 0, total;
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      counts[k] = mine + k < rows ? a.batch(mine + k).count : 0;
      sum += counts[k];
    }
    simt::sync_block();
    std::uint32_t before = done + scan::exclusive_sum(storage, sum, total);
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      if (mine + k < rows) a.befores[mine + k] = before;
      before += counts[k];
    }
    done += total;
  }
  if (simt::thread_rank() != 0) return;
  // Rows that a kernel is still writing may count messages twice.
  std::uint32_t const size = a.run.ref.log.size, fitting = done < size ? done : size;
  *a.count = fitting;
  if (done != fitting) simt::fetch_add(&a.run.ref.report->not_whole, std::uint64_t{done - fitting});
}
/// Lists the places of all messages, and the records of those whose sections a run does not move. A
/// warp for each batch in turn. Any grid.
template <class Ref>
WARDEN_KERNEL void list_places(place_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.run.runs()) return;
  a.run.begin(log_phase::run);
  using sections = log_sections<Ref>;
  auto const messages = sections::messages_type::of(a.run.ref.log);
  std::uint32_t const count = *a.count, rows = a.run.ref.log.rows_written();
  std::uint32_t const warps = simt::block_count() * simt::block_threads() / simt::warp_size;
  for (std::uint32_t turn =
           (simt::block_rank() * simt::block_threads() + simt::thread_rank()) / simt::warp_size;
       turn < rows; turn += warps) {
    log_places const batch = a.batch(turn);
    std::uint32_t const before = a.befores[turn], left = before < count ? count - before : 0,
                        n = batch.count < left ? batch.count : left;
    // A warp lists thousands, so several of its loads are in progress at the same time.
    constexpr unsigned together = 8;
    for (std::uint32_t first = simt::lane_id(); first < n; first += together * simt::warp_size) {
      [[maybe_unused]] std::uint32_t locals[together];
      WARDEN_UNROLL
      for (unsigned k = 0; k < together; ++k) {
        std::uint32_t const j = first + k * simt::warp_size;
        if constexpr (sections::lists_ids) {
          if (j < n) locals[k] = messages.local(batch.begin + j);
        }
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < together; ++k) {
        std::uint32_t const j = first + k * simt::warp_size;
        if (j >= n) break;
        a.places[before + j] = batch.begin + j;
        if constexpr (sections::lists_ids) a.locals[before + j] = locals[k];
      }
    }
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
