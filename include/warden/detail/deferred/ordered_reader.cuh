// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gathers the messages of one partition in the order in which they were sent.
///
/// In a segment_reader each warp reads for itself. Here the block reads together: it takes the next
/// rows in their order, and sums the lengths of their segments. The threads find their messages by
/// a search in those sums.
#pragma once

#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/deferred/warp_row_index.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Receives a partition's messages in their order, for a block of `Threads` threads, a power of
/// two.
template <class Message, unsigned Threads>
class ordered_reader {
  using scan = simt::block_scan<Threads, true>;
  /// Rows that a thread reads together.
  static constexpr unsigned each = Threads >= 1024 ? 2 : 4;

 public:
  /// Rows that the block gathers at a time.
  static constexpr std::uint32_t entries = Threads * each;
  /// Shared memory of the block.
  struct storage {
    std::uint32_t messages;           ///< messages that the block has found so far
    typename scan::storage scanning;  ///< for the scan of lengths
    std::uint32_t before[entries];    ///< [row of these] messages in earlier segments
    std::uint32_t places[entries];    ///< [row of these] place of its segment, less `before`
  };

  /// Reads a partition's column in these rows of the log, by their turns. `shared` is for this
  /// reader alone. Collective over the block.
  WARDEN_DEVICE ordered_reader(section_log<Message> const& log, std::uint32_t column, log_rows rows,
                               storage& shared)
      : log_{log},
        shared_{&shared, 1},
        scan_{&shared.scanning, 1},
        before_{shared.before, entries},
        places_{shared.places, entries},
        column_{column},
        rows_{rows.end},
        next_row_{rows.first} {
    load_rows();
  }

  /// True if there are messages left; the same for the whole block.
  WARDEN_DEVICE bool has_more() const { return done_ < total_; }

  /// Receives up to `used` messages for each thread, 1 to `PerThread`, in the order of the log:
  /// warp by warp, and in a warp by index k. Returns a word whose bit k is set if `m[k]` is a
  /// message. Collective over the block.
  template <unsigned PerThread>
  WARDEN_DEVICE unsigned receive(Message (&m)[PerThread], unsigned used = PerThread) {
    unsigned arrived = 0;
    std::uint32_t places[PerThread]{};
    unsigned const of_warp = used * simt::warp_size;
    std::uint32_t const first = done_ + simt::warp_rank() * of_warp;  // mutation: window-in-order
    std::uint32_t const end = first + of_warp < total_ ? first + of_warp : total_;
    // A warp's messages are adjacent, most often all in the rows that it reads first.
    for (std::uint32_t found = first; found < end;) {
      warp_row_index rows;
      std::uint32_t const rows_end = rows_from(found, rows);
      bool const are_few = rows_end - found < least;
      std::uint32_t const until = are_few || rows_end > end ? end : rows_end;
      std::uint32_t of_row[PerThread];
      if (!are_few) rows.find(first, of_row);
      WARDEN_UNROLL
      for (unsigned k = 0; k < PerThread; ++k) {
        std::uint32_t const mine = first + k * simt::warp_size + simt::lane_id();
        if (mine - found >= until - found) continue;  // mutation: rows-reach
        places[k] = mine + (are_few ? place_of(mine) : of_row[k]);
        arrived |= 1u << k;
      }
      found = until;
    }
    log_.load(m, places, arrived);
    done_ += used * Threads;
    if (done_ >= total_ && next_row_ < rows_) {
      simt::sync_block();  // the sums have been searched
      load_rows();
    }
    return arrived;
  }

 private:
  /// Least number of messages in the rows that a warp reads together. With fewer, each lane
  /// searches by itself.
  static constexpr std::uint32_t least = 2 * simt::warp_size;

  /// Continues with the next rows that have messages. `total_` is 0 if none have. Collective.
  WARDEN_DEVICE void load_rows() {
    done_ = total_ = 0;
    while (next_row_ < rows_ && total_ == 0) {
      std::uint32_t begin[each], length[each], sum = 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        log_places const s = segment_of(next_row_ + simt::thread_rank() * each + k);
        begin[k] = s.begin;
        length[k] = s.count;
        sum += s.count;
      }
      std::uint32_t before = scan::exclusive_sum(scan_[0], sum, total_);
      WARDEN_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        before_[simt::thread_rank() * each + k] = before;
        places_[simt::thread_rank() * each + k] = begin[k] - before;
        before += length[k];
      }
      next_row_ += entries;
      simt::sync_block();
    }
    if (simt::thread_rank() == 0) shared_[0].messages += total_;
  }
  /// Returns the segment of the row whose turn is `turn`; empty if there is none.
  WARDEN_DEVICE log_places segment_of(std::uint32_t turn) const {
    if (turn >= rows_) return {0, 0};
    std::uint32_t const row = log_.order.rows[turn];  // mutation: rows-as-they-came
    return row == log_.no_row ? log_places{0, 0} : log_.segment(column_, row);
  }
  /// Returns a row that begins at message `i` of these rows or shortly before. Collective over the
  /// warp.
  WARDEN_DEVICE std::uint32_t row_before(std::uint32_t i) const {
    std::uint32_t row = 0;
    WARDEN_UNROLL
    for (std::uint32_t step = entries / simt::warp_size; step != 0; step /= simt::warp_size) {
      unsigned const begun =
          simt::ballot(simt::full_warp, before_[row + simt::lane_id() * step] <= i);
      row += (static_cast<std::uint32_t>(simt::count_bits(begun)) - 1) * step;
    }
    return row;
  }
  /// Reads the rows from message `begin` on. Returns the number of the first message that lies in
  /// none of them, or a large number. Collective over the warp.
  WARDEN_DEVICE std::uint32_t rows_from(std::uint32_t begin, warp_row_index& rows) const {
    constexpr unsigned last = simt::warp_size - 1;
    std::uint32_t const row = row_before(begin) + simt::lane_id();
    rows = {warp_row_index::nowhere, 0};
    if (row < entries) rows = {before_[row], places_[row]};
    // Rows after the last message begin nowhere, so that the last row with messages reaches to the
    // end.
    if (rows.before >= total_) rows.before = warp_row_index::nowhere;
    // The end of the last lane's row is unknown.
    std::uint32_t const end = simt::shuffle(simt::full_warp, rows.before, last);
    unsigned const next = simt::lane_id() == last ? last : simt::lane_id() + 1;
    bool const has = simt::shuffle(simt::full_warp, rows.before, next) != rows.before;
    rows.close_up(simt::ballot(simt::full_warp, has));
    return end;
  }
  /// Returns the place of any message `i`, less i. For rows with very few messages.
  WARDEN_DEVICE std::uint32_t place_of(std::uint32_t i) const {
    std::uint32_t found = 0;
    WARDEN_UNROLL
    for (std::uint32_t step = entries / 2; step != 0; step /= 2) {
      if (before_[found + step] <= i) found += step;
    }
    return places_[found];
  }

  section_log<Message> const& log_;
  simt::shared_span<storage> shared_;
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<std::uint32_t> before_, places_;  ///< see storage
  std::uint32_t column_;
  std::uint32_t rows_;       ///< end of the rows
  std::uint32_t next_row_;   ///< next row of the block
  std::uint32_t total_ = 0;  ///< messages in these rows
  std::uint32_t done_ = 0;   ///< messages received of these rows
};

}  // namespace detail
WARDEN_NAMESPACE_END
