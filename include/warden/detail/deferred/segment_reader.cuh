// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gathers the messages of one partition from the batches of a log.
///
/// The block's warps share the rows by turns of 32, or fewer if there are few rows. A warp takes
/// that many adjacent rows, one for each lane, and sums the lengths of their segments. Each lane
/// then finds its message by a search in those sums, because a segment may be empty, or longer than
/// a warp.
#pragma once

#include <warden/detail/block/warp_scan.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/deferred/warp_row_index.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Shared memory of a reader whose warps read by themselves.
struct warp_reader_storage {
  std::uint32_t messages;  ///< messages that the block has found so far
};

/// One warp's part of a partition's messages of one width. `Message` is the log's `Narrow`, or
/// several times as wide. `Mixed` is true if the log has messages of two widths. `Counts` is true
/// if the readers of a block count its messages.
template <class Message, class Narrow = Message, bool Mixed = false, bool Counts = false>
class segment_reader {
  using log_type = section_log<Narrow>;
  using row_words = typename log_type::row_words;
  static constexpr std::uint32_t width = sizeof(Message) / sizeof(Narrow);

 public:
  /// Shared memory of the block.
  using storage = warp_reader_storage;

  /// Reads a partition's column in these rows of the log, by this thread's warp among those of the
  /// block. Collective over the warp.
  WARDEN_DEVICE segment_reader(log_type const& log, std::uint32_t column, log_rows rows,
                               storage& shared)
      : log_{log},
        shared_{&shared, 1},
        column_{column},
        rows_{rows.end},
        turn_{turn_of(rows)},
        next_row_{rows.first + simt::warp_rank() * turn_} {
    start_loads();
    load_rows();
  }

  /// Size of a warp's part.
  struct extent {
    std::uint32_t messages;    ///< messages in this lane's rows
    std::uint32_t per_thread;  ///< messages of each lane when the warp receives them all
  };
  /// Returns the size of this warp's part of a reader's rows. Collective over the warp.
  WARDEN_DEVICE static extent measure(log_type const& log, std::uint32_t column, log_rows rows) {
    extent all{0, 0};
    std::uint32_t const turn = turn_of(rows), warps = simt::block_threads() / simt::warp_size;
    for (std::uint32_t next = rows.first + simt::warp_rank() * turn; next < rows.end;
         next += warps * turn)
      all.messages += segment_of(log, words_of(log, column, next, turn, rows.end)).count;
    all.per_thread = (simt::warp_sum(all.messages) + simt::warp_size - 1) / simt::warp_size;
    return all;
  }

  /// True if there are messages left; the same for all lanes. Collective over the warp.
  WARDEN_DEVICE bool has_more() const { return done_ < total_; }

  /// Returns the rows that the block has passed if its other warps are as far as this one.
  WARDEN_DEVICE std::uint32_t rows_passed() const {
    if (total_ == 0) return rows_;
    std::uint32_t const turn = simt::block_threads() / simt::warp_size * turn_;
    float const part = static_cast<float>(done_) / static_cast<float>(total_);
    std::uint32_t const now = next_row_ - turn - simt::warp_rank() * turn_ +
                              static_cast<std::uint32_t>(part * static_cast<float>(turn));
    return now < rows_ ? now : rows_;
  }

  /// Receives up to `used` messages for each lane, 1 to `PerThread`, in the order of the log; fewer
  /// if there are fewer. Returns a word whose bit k is set if `m[k]` is a message. Collective over
  /// the warp.
  template <unsigned PerThread>
  WARDEN_DEVICE unsigned receive(Message (&m)[PerThread], unsigned used = PerThread) {
    std::uint32_t const most = used * simt::warp_size;
    unsigned arrived = 0;
    std::uint32_t places[PerThread];
    for (std::uint32_t filled = 0; done_ < total_;) {
      // These rows' next message follows those that the warp has. All k are looked up at once,
      // because their steps are independent.
      std::uint32_t const first = done_ - filled, left = total_ - done_;
      std::uint32_t of_row[PerThread];
      current_.find(first, of_row);
      WARDEN_UNROLL
      for (unsigned k = 0; k < PerThread; ++k) {
        std::uint32_t const mine = first + k * simt::warp_size + simt::lane_id();
        if (mine - done_ >= left) continue;
        places[k] = of_row[k] + mine * width;
        arrived |= 1u << k;
      }
      filled += left;
      if (filled > most) {     // mutation: window-filled
        done_ = first + most;  // mutation: segment-twice
        break;
      }
      load_rows();
      if (filled == most) break;
    }
    arrived &= ~0u >> (32 - used);
    log_.load(m, places, arrived);
    return arrived;
  }

 private:
  /// Continues with the warp's next rows that have messages. `total_` is 0 if none have.
  WARDEN_DEVICE void load_rows() {
    done_ = total_ = 0;
    while (next_row_ < rows_ && total_ == 0) {
      log_places const segment = segment_of(log_, in_flight_);
      std::uint32_t const length = segment.count;
      next_row_ += simt::block_threads() / simt::warp_size * turn_;
      start_loads();
      std::uint32_t const before = warp_sum_before(length);
      total_ = simt::shuffle(simt::full_warp, before + length, simt::warp_size - 1);
      current_ = {before, segment.begin - before * width};
      current_.close_up(simt::ballot(simt::full_warp, length != 0));
    }
    if (Counts && simt::lane_id() == 0 && total_ != 0)
      simt::shared_fetch_add(shared_[0].messages, total_);
  }
  /// Starts the loads for the next rows, which are in flight while these are read. Their values are
  /// not used before that.
  WARDEN_DEVICE void start_loads() {
    in_flight_ = words_of(log_, column_, next_row_, turn_, rows_);
  }
  /// Returns the description of the lane's row of those from `next` on; that of an empty row if it
  /// has none.
  WARDEN_DEVICE static row_words words_of(log_type const& log, std::uint32_t column,
                                          std::uint32_t next, std::uint32_t turn,
                                          std::uint32_t end) {
    std::uint32_t const row = next + simt::lane_id();
    return simt::lane_id() < turn && row < end ? log.words_of(column, column + 1, row)
                                               : row_words{0, 0, 0};
  }
  WARDEN_DEVICE static log_places segment_of(log_type const& log, row_words const& words) {
    return log.template segment_of<width, Mixed>(words);
  }
  /// Returns the rows of a warp's turn. A warp may have none.
  WARDEN_DEVICE static std::uint32_t turn_of(log_rows rows) {
    std::uint32_t const warps = simt::block_threads() / simt::warp_size;
    std::uint32_t const each = (rows.end - rows.first + warps - 1) / warps;
    return each < simt::warp_size ? each : simt::warp_size;
  }

  log_type const& log_;
  simt::shared_span<storage> shared_;
  std::uint32_t column_;
  std::uint32_t rows_;        ///< end of the rows
  std::uint32_t turn_;        ///< rows of the warp at a time
  std::uint32_t next_row_;    ///< first of the rows whose loads are in flight
  row_words in_flight_;       ///< description of the lane's row of these
  warp_row_index current_{};  ///< index of the rows before these
  std::uint32_t total_ = 0;   ///< messages in the rows of `current_`
  std::uint32_t done_ = 0;    ///< messages received of these
};

}  // namespace detail
WARDEN_NAMESPACE_END
