// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes the partials of a block's tables to a log, as one batch that is sorted by partition.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/warp_scan.cuh>
#include <warden/detail/deferred/batch_reserve.cuh>
#include <warden/detail/deferred/batch_stage.cuh>
#include <warden/detail/deferred/batch_write.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Counts of a batch's messages by partition, and then where each partition begins.
struct partition_counts {
  simt::shared_span<std::uint32_t> begins;  ///< [partition + 1]

  /// Returns the position where a partition begins.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t begin_of(std::uint32_t partition) const {
    return begins[partition];
  }
  /// Turns the counts of `partitions` partitions into begins. Collective over one warp.
  WARDEN_DEVICE void scan(std::uint32_t partitions) const {
    std::uint32_t before = 0;
    for (std::uint32_t first = 0; first <= partitions; first += simt::warp_size) {
      std::uint32_t const p = first + simt::lane_id();
      std::uint32_t const count = p < partitions ? begins[p] : 0;
      std::uint32_t const begin = before + warp_sum_before(count);
      if (p <= partitions) begins[p] = begin;
      before += simt::warp_sum(count);
    }
  }
};

/// Batch of the partials that a block has made of its sections, in a log of `Ref`. A partial has a
/// wide message if the log has these.
template <class Ref>
class table_batch {
  using formats = typename Ref::formats;
  using format = std::conditional_t<formats::two_widths, typename formats::wide_format,
                                    typename formats::format>;
  using message = typename format::message_type;
  static constexpr std::uint16_t no_message = 0xffff;

  struct layout {
    WARDEN_HOST_DEVICE constexpr explicit layout(std::uint32_t records)
        : begins{carver.take<std::uint32_t>(most_partitions + 1)},
          places{carver.take<log_places>(1)},
          row{carver.take<std::uint32_t>(1)},
          ranks{carver.take<std::uint16_t>(records)} {}
    arena_carver carver{};
    arena_piece<std::uint32_t> begins;
    arena_piece<log_places> places;
    arena_piece<std::uint32_t> row;
    arena_piece<std::uint16_t> ranks;
  };

 public:
  using log_type = typename Ref::log_type;
  /// Places of the log that a partial takes.
  static constexpr unsigned width = formats::two_widths ? formats::places : 1;
  /// Largest number of records.
  static constexpr std::uint32_t most_records = no_message;

  /// Returns the shared memory of a block, aligned to 16 bytes. Units: bytes.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::uint32_t records) {
    return layout{records}.carver.bytes();
  }

  /// Uses the block's shared memory, for partials of `records` records.
  WARDEN_DEVICE table_batch(Ref const& ref, std::uint32_t records, std::byte* storage)
      : table_batch{ref, storage, layout{records}} {}

  /// Writes the partials of `table`, which is closed. Counts those that find no place as refused;
  /// if none does, all its sections. `sections` is the number of sections of this thread that the
  /// table has combined. Collective over the block.
  template <class Table>
  WARDEN_DEVICE void write(Table const& table, std::uint64_t sections) {
    std::uint32_t const total = rank(table);
    std::uint32_t done = 0, tried = 0;
    while (done < total) {
      if (simt::warp_rank() == 0)
        tried = reserve_places<width>(*this, simt::block_rank(), tried, total - done, true);
      if (simt::thread_rank() == 0 && places[0].count != 0) row_[0] = log.take_row();
      simt::sync_block();
      log_places const to = places[0];
      if (to.count == 0) break;
      std::uint32_t const row = row_[0];
      if (row >= log.rows) break;
      copy(table, done, to);
      write_row(*this, row, done, to, formats::two_widths ? log_type::wide_row : 0);
      if (formats::two_widths && simt::thread_rank() == 0)
        simt::fetch_add(&log.control->wide_rows, 1u);  // mutation: table-wide-rows
      done += to.count;
      simt::sync_block();
    }
    if (done == 0) return refuse_all(sections);
    count_freed(sections, total);
    if (done != total && simt::thread_rank() == 0) ref_.refuse(total - done);
  }

 private:
  WARDEN_DEVICE table_batch(Ref const& ref, std::byte* storage, layout const& at)
      : log{ref.log},
        counts{at.begins.in(storage)},
        places{at.places.in(storage)},
        threads{simt::block_threads()},
        ref_{ref},
        row_{at.row.in(storage)},
        ranks_{at.ranks.in(storage)} {}

  WARDEN_DEVICE std::uint32_t partition_of(std::uint32_t record) const {
    return log.partitions.partition_of(ref_.number(record));
  }
  /// Ranks the records that have a partial by partition. Returns their number. Collective.
  template <class Table>
  WARDEN_DEVICE std::uint32_t rank(Table const& table) const {
    std::uint32_t const partitions = log.partitions.partitions();
    for (std::uint32_t p = simt::thread_rank(); p < partitions; p += threads) counts.begins[p] = 0;
    simt::sync_block();
    for (std::uint32_t r = simt::thread_rank(); r < ranks_.size(); r += threads) {
      std::uint32_t rank = no_message;
      if (table.has(r))
        rank = simt::shared_fetch_add(counts.begins[partition_of(table.record(r))], 1u);
      ranks_[r] = static_cast<std::uint16_t>(rank);
    }
    simt::sync_block();  // mutation: table-ranked
    if (simt::warp_rank() == 0) counts.scan(partitions);
    simt::sync_block();
    return counts.begin_of(partitions);
  }
  /// Counts the sections of all threads as refused, each by itself: no partial of them has left, so
  /// this is the number that the caller misses in the records. Collective.
  WARDEN_DEVICE void refuse_all(std::uint64_t sections) const {
    sections = simt::warp_sum(sections);
    if (sections != 0 && simt::lane_id() == 0) ref_.refuse(sections);
  }
  /// Adds what combining has freed: one place for each section, less those of the partials.
  WARDEN_DEVICE void count_freed(std::uint64_t sections, std::uint32_t total) const {
    sections = simt::warp_sum(sections);
    if (simt::thread_rank() == 0) sections -= std::uint64_t{total} * width;
    if (simt::lane_id() == 0) simt::add(&log.control->freed, sections);
  }
  /// Copies partials to their places, from position `first` on. Collective.
  template <class Table>
  WARDEN_DEVICE void copy(Table const& table, std::uint32_t first, log_places to) const {
    for (std::uint32_t r = simt::thread_rank(); r < ranks_.size(); r += threads) {
      if (ranks_[r] == no_message) continue;
      std::uint32_t const position = counts.begin_of(partition_of(table.record(r))) + ranks_[r];
      // Positions before `first` wrap to large numbers.
      if (position - first >= to.count) continue;
      *log.template at<message>(to.begin + (position - first) * width) =
          format::pack(ref_.number(table.record(r)), table.sum(r).words.value());
    }
  }

 public:
  // Names that reserve_places and write_row use.
  log_type const& log;                   ///< log that the batch goes to
  partition_counts counts;               ///< counts partials by partition
  simt::shared_span<log_places> places;  ///< reserved for the batch
  unsigned threads;                      ///< threads of the block

 private:
  Ref const& ref_;
  simt::shared_span<std::uint32_t> row_;    ///< row of the batch
  simt::shared_span<std::uint16_t> ranks_;  ///< [record] rank in its partition, or `no_message`
};

}  // namespace detail
WARDEN_NAMESPACE_END
