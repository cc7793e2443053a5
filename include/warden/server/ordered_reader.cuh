// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gathers the messages of one partition in the order in which they were sent.
///
/// What a segment_reader does by warps, each for itself, the block does here together: it takes the
/// next rows in their order, adds up the lengths of their segments, and the threads find their
/// messages by a search among those sums.
#pragma once

#include <warden/channel/section_log.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Receives a partition's messages in their order, for a block of `Threads` threads, a power of
/// two.
template <class Message, unsigned Threads>
class ordered_reader {
  using scan = simt::block_scan<Threads, true>;
  /// Rows that a thread looks at together.
  static constexpr unsigned each = Threads >= 1024 ? 2 : 4;

 public:
  /// Rows that it gathers at a time.
  static constexpr std::uint32_t entries = Threads * each;
  /// Shared memory of the block.
  struct storage {
    typename scan::storage scanning;  ///< of lengths
    std::uint32_t before[entries];    ///< [row of these] messages in the segments before
    std::uint32_t places[entries];    ///< [row of these] where its segment begins, less `before`
  };

  /// Reads a partition's column in these rows of the log, by their turns. Collective over the
  /// block; `shared` is nobody else's.
  WARDEN_DEVICE ordered_reader(section_log<Message> const& log, std::uint32_t column, log_rows rows,
                               storage& shared)
      : log_{log},
        scan_{&shared.scanning, 1},
        before_{shared.before, entries},
        places_{shared.places, entries},
        column_{column},
        rows_{rows.end},
        next_row_{rows.first} {
    load_rows();
  }

  /// Whether there are messages left; the same for the block.
  WARDEN_DEVICE bool has_more() const { return done_ < total_; }

  /// Receives up to `Rounds` messages for each thread, as they lie in the log: the warps in turn,
  /// each round by round. Returns bit k if `m[k]` is one. Collective over the block.
  template <unsigned Rounds>
  WARDEN_DEVICE unsigned receive(Message (&m)[Rounds]) {
    unsigned arrived = 0;
    std::uint32_t places[Rounds]{};
    constexpr unsigned of_warp = Rounds * simt::warp_size;
    std::uint32_t const first = done_ + simt::warp_rank() * of_warp;  // sabotage: window-in-order
    rows_ahead rows{};
    WARDEN_UNROLL
    for (unsigned k = 0; k < Rounds; ++k) {
      std::uint32_t const begin = first + k * simt::warp_size;
      if (begin >= total_) break;
      // A warp's messages lie one behind another: the rows that it looked at last mostly do.
      if (k == 0 || !rows.reach(begin)) rows = rows_from(begin);
      std::uint32_t const mine = begin + simt::lane_id();
      bool const is = mine < total_;
      places[k] =
          mine + (rows.reach(begin) ? place_among(rows, begin) : place_of(is ? mine : total_ - 1));
      if (is) arrived |= 1u << k;
    }
    log_.load(m, places, arrived);
    done_ += Rounds * Threads;
    if (done_ >= total_ && next_row_ < rows_) {
      simt::sync_block();  // the sums have been searched
      load_rows();
    }
    return arrived;
  }

 private:
  /// Goes on to the next rows that have messages; `total_` is 0 if none have. Collective.
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
  }
  /// The segment of the row whose turn is `turn`; empty if there is none.
  WARDEN_DEVICE log_places segment_of(std::uint32_t turn) const {
    if (turn >= rows_) return {0, 0};
    std::uint32_t const row = log_.order.rows[turn];  // sabotage: rows-as-they-came
    return row == log_.no_row ? log_places{0, 0} : log_.segment(column_, row);
  }
  /// A row that begins at or before message `i` of these rows, and not long before. Collective over
  /// the warp.
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
  /// Rows with messages that a warp looks at, one a lane, the first of which begins at or before
  /// what it looks for.
  struct rows_ahead {
    std::uint32_t before;  ///< messages in the segments before this lane's row
    std::uint32_t place;   ///< see storage
    std::uint32_t end;     ///< messages in the segments of all of them, and before

    /// Whether a warp's messages from number `begin` on are all in these rows.
    WARDEN_DEVICE bool reach(std::uint32_t begin) const {
      return end > begin && end - begin >= simt::warp_size;  // sabotage: rows-reach
    }
  };
  /// Those from message `begin` on. Collective over the warp.
  WARDEN_DEVICE rows_ahead rows_from(std::uint32_t begin) const {
    constexpr std::uint32_t nowhere = ~0u;
    constexpr unsigned last = simt::warp_size - 1;
    std::uint32_t const row = row_before(begin) + simt::lane_id();
    rows_ahead found{nowhere, 0, nowhere};
    if (row < entries) found = {before_[row], places_[row], nowhere};
    // Rows behind the last message begin nowhere, so that all reach as far as it.
    if (found.before >= total_) found.before = nowhere;
    // Where the last lane's row ends nobody knows.
    found.end = simt::shuffle(simt::full_warp, found.before, last);
    unsigned const next = simt::lane_id() == last ? last : simt::lane_id() + 1;
    bool const has = simt::shuffle(simt::full_warp, found.before, next) != found.before;
    unsigned const having = simt::ballot(simt::full_warp, has);
    if (having == simt::full_warp >> 1) return found;  // sabotage: rows-empty
    // Those that have messages close up; behind them all lanes get the last one's.
    unsigned from = 0;
    WARDEN_UNROLL
    for (unsigned step = simt::warp_size / 2; step != 0; step /= 2) {
      unsigned const below = (1u << (from + step)) - 1;
      if (static_cast<unsigned>(simt::count_bits(having & below)) <= simt::lane_id()) from += step;
    }
    found.before = simt::shuffle(simt::full_warp, found.before, from);
    found.place = simt::shuffle(simt::full_warp, found.place, from);
    return found;
  }
  /// The place of this lane's message, `begin` and its lane, less its number: in the last of `rows`
  /// that begins at or before it. Each row marks its first message, and the marks up to a message
  /// are counted. Collective over the warp.
  WARDEN_DEVICE std::uint32_t place_among(rows_ahead const& rows, std::uint32_t begin) const {
    std::uint32_t const behind = rows.before - begin;
    bool const begins_here = rows.before > begin && behind < simt::warp_size;
    unsigned const marks = simt::warp_sum(begins_here ? 1u << behind : 0);
    unsigned const up_to_mine = ~0u >> (simt::warp_size - 1 - simt::lane_id());
    int const begun = simt::count_bits(simt::ballot(simt::full_warp, rows.before <= begin)) +
                      simt::count_bits(marks & up_to_mine);
    return simt::shuffle(simt::full_warp, rows.place, static_cast<unsigned>(begun) - 1);
  }
  /// The place of any message `i`, less i: where rows have very few messages.
  WARDEN_DEVICE std::uint32_t place_of(std::uint32_t i) const {
    std::uint32_t found = 0;
    WARDEN_UNROLL
    for (std::uint32_t step = entries / 2; step != 0; step /= 2) {
      if (before_[found + step] <= i) found += step;
    }
    return places_[found];
  }

  section_log<Message> const& log_;
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<std::uint32_t> before_, places_;  ///< see storage
  std::uint32_t column_;
  std::uint32_t rows_;       ///< below this
  std::uint32_t next_row_;   ///< of the block
  std::uint32_t total_ = 0;  ///< messages in these rows
  std::uint32_t done_ = 0;   ///< of them
};

WARDEN_NAMESPACE_END
