// SPDX-License-Identifier: Apache-2.0
/// @file
/// The log: where deferred messages wait until they are run.
///
/// Its places are dealt out to *shards*, each with one word that counts from both ends. At the
/// front lie *batches*: what one block flushed, sorted by partition, with a row of offsets that
/// says where the segment of each partition begins. At the back lie *flat* messages, one by one,
/// until a run sorts them into batches. A place is taken by one atomic on a shard's word, and a
/// shard that is full sends the next sender on to another one: nobody waits, and a log of n places
/// accepts n messages exactly, whoever sends them.
#pragma once

#include <warden/detail/execute/log_shard.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The counters of one log.
struct log_control {
  std::uint32_t rows;            ///< of offsets, given out
  std::uint32_t next_partition;  ///< of the run
  std::uint32_t next_of_wide;    ///< of the run of wide messages
  std::uint32_t wide_rows;       ///< of the rows, as many may be of them; 0: none is
  std::uint32_t running;         ///< number of the run at work, or 0
  std::uint32_t cycle;           ///< how often the log was emptied
  std::uint32_t full;            ///< one more than the cycle in which all shards were found full
  std::uint32_t blocks;          ///< that wrote batches, where sections run in order
  std::uint32_t rows_passed;     ///< by all partitions of the run, where those stay together
};

/// Which batch comes when, in a log whose sections run in order: by launch, by block, and as the
/// block flushed them. What is the same for all batches of a block stands in the row of its first
/// one.
struct batch_order {
  std::uint32_t* launches = nullptr;  ///< [first row] number of the ref that the launch was given
  std::uint32_t* blocks = nullptr;    ///< [first row] rank of the block
  std::uint32_t* counts = nullptr;    ///< [first row] batches of the block
  std::uint32_t* firsts = nullptr;    ///< [block that wrote, in no order] its first row
  std::uint32_t* first_of = nullptr;  ///< [row] the first one of the block that wrote it
  std::uint32_t* numbers = nullptr;   ///< [row] of the batch among those of its block
  std::uint32_t* rows = nullptr;      ///< [turn] the row, or `no_row`; while the log is run
  std::uint32_t launch = 0;           ///< number of this ref
};

/// Rows of offsets, one behind another.
struct log_rows {
  std::uint32_t first;  ///< number of the first one
  std::uint32_t end;    ///< and of the one behind the last
};

/// Places that were taken, one behind another.
struct log_places {
  std::uint32_t begin;  ///< the first one
  std::uint32_t count;  ///< messages that go there
};

/// A log as device code sees it, by value.
template <class Message>
struct section_log {
  /// Kinds of places: at a shard's front, or at its back.
  enum class side : unsigned char { batch, flat };
  /// What a shard's word has while the log is run: more than any shard holds.
  static constexpr std::uint64_t closed = std::uint64_t{1} << 31;
  /// The mark in a row's begin: its messages are wide ones, which take several places each.
  static constexpr std::uint32_t wide_row = 1u << 31;
  /// No row.
  static constexpr std::uint32_t no_row = ~0u;
  /// First word of a message that nobody has written, where a log is replayed.
  static constexpr std::uint32_t unwritten = ~0u;

  Message* pool = nullptr;           ///< `size` places
  log_shard* shards = nullptr;       ///< `last_shard + 1`, a power of two
  std::uint16_t* offsets = nullptr;  ///< [column, and one more][row], from the row's begin
  std::uint32_t* begins = nullptr;   ///< [row] the place of its first message, and `wide_row`
  log_control* control = nullptr;    ///< one
  std::uint32_t size = 0;            ///< places
  std::uint32_t shard_size = 0;      ///< places of a shard; the last one may have fewer
  std::uint32_t last_shard = 0;      ///< a mask as well
  std::uint32_t rows = 0;            ///< rows of offsets
  std::uint32_t gap = 0;             ///< places between both ends of a shard that is full
  std::uint32_t least_batch = 0;     ///< messages of a batch that a block sends, at least
  partition_map partitions;          ///< which record belongs to which
  batch_order order;                 ///< nothing but zeros if there is none
  /// [coarse partition] the rows that have its messages, if the log is one that was split: sorted
  /// once more, each partition of a log by itself. Null otherwise.
  log_rows* rows_of = nullptr;
  std::uint32_t coarse_log2 = 0;  ///< partitions of the log that was split

  /// The first place of a shard.
  WARDEN_DEVICE std::uint32_t begin_of(std::uint32_t shard) const {
    return shard * (shard_size + gap);
  }
  /// Places of a shard, without its gap.
  WARDEN_DEVICE std::uint32_t size_of(std::uint32_t shard) const {
    std::uint32_t const before = shard * shard_size;
    if (before >= size) return 0;
    return size - before < shard_size ? size - before : shard_size;
  }
  /// Where a shard's flat messages begin, if there are `flat`.
  WARDEN_DEVICE std::uint32_t flat_begin(std::uint32_t shard, std::uint32_t flat) const {
    return begin_of(shard) + size_of(shard) + gap - flat;
  }

  /// Takes places for up to `count` messages of `Width` places in one shard: as many as it has;
  /// the last one may reach into the gap. By one atomic on its word. What is added to a full one
  /// stays, and means nothing: who fills a shard notes its flat messages, and a run empties it by
  /// one store, whoever is still adding.
  template <side Side, unsigned Width = 1>
  WARDEN_DEVICE log_places take(std::uint32_t shard, std::uint32_t messages) const {
    constexpr unsigned shift = Side == side::flat ? 32 : 0;
    std::uint32_t const count = messages * Width;
    std::uint32_t const room = size_of(shard);
    std::uint64_t* const word = &shards[shard].taken;
    std::uint64_t const added = std::uint64_t{count} << shift;
    std::uint64_t old;
    if constexpr (Side == side::flat) {
      old = simt::fetch_add_together(word, added);
    } else {
      old = simt::fetch_add(word, added);
    }
    auto const batches = static_cast<std::uint32_t>(old);
    auto const flat = static_cast<std::uint32_t>(old >> 32);
    std::uint64_t const before = std::uint64_t{batches} + flat;
    if (before >= room) {
      // Long before a half overflows: some one of very many finds the word as it left it.
      if (before > closed + (closed >> 1))
        simt::compare_exchange(word, old + added, closed);  // mutation: log-overflow
      return {0, 0};
    }
    std::uint32_t const left = room - static_cast<std::uint32_t>(before);
    std::uint32_t const taken = count < left ? count : left;  // mutation: log-cut
    if (count >= left)
      shards[shard].flat_end = Side == side::flat ? flat + taken : flat;  // mutation: log-end
    simt::note_reservation(taken);
    std::uint32_t const begin = begin_of(shard);
    std::uint32_t const back = flat_begin(shard, flat + taken);
    std::uint32_t const first = Side == side::flat ? back : begin + batches;  // mutation: log-ends
    return {first, (taken + Width - 1) / Width};  // mutation: log-wide-end
  }
  /// Takes a row of offsets for a batch: there are as many as there can be batches. (If a kernel
  /// sends while the log is emptied it may be none of those there are.)
  WARDEN_DEVICE std::uint32_t take_row() const { return simt::fetch_add(&control->rows, 1u); }
  /// Whether a shard has no place; it may be that a moment later.
  WARDEN_DEVICE bool looks_full(std::uint32_t shard) const {
    std::uint64_t const taken = simt::load_relaxed(&shards[shard].taken);
    return (taken & 0xffffffffu) + (taken >> 32) >= size_of(shard);
  }

  /// From here on no place of the shard is taken; one thread.
  WARDEN_DEVICE void close(std::uint32_t shard) const {
    std::uint64_t const taken =
        simt::exchange(&shards[shard].taken, closed);  // mutation: log-close
    std::uint32_t const room = size_of(shard);
    auto flat = static_cast<std::uint32_t>(taken >> 32);
    auto batches = static_cast<std::uint32_t>(taken);
    if (std::uint64_t{batches} + flat >= room) {
      flat = shards[shard].flat_end < room ? shards[shard].flat_end : room;
      batches = room - flat;
    }
    shards[shard].flat = flat;
    shards[shard].batches = batches;
  }

  /// While the log is run: the flat messages that are not in batches.
  WARDEN_DEVICE log_places unsorted(std::uint32_t shard) const {
    log_shard const& r = shards[shard];
    return {flat_begin(shard, r.flat), r.flat > r.sorted ? r.flat - r.sorted : 0};
  }

  /// Takes back that the shard was closed; one thread. If its flat messages `are_sorted`, they are
  /// in batches from here on.
  WARDEN_DEVICE void reopen(std::uint32_t shard, bool are_sorted) const {
    log_shard& r = shards[shard];
    if (are_sorted) r.sorted = r.flat;  // mutation: sorted-twice
    simt::store_relaxed(&r.taken, std::uint64_t{r.flat} << 32 | r.batches);
  }

  /// One flat message, in any shard, first in `home`. False if all are full.
  WARDEN_DEVICE bool put(std::uint32_t home, Message const& m) const {
    std::uint32_t cycle = 0;
    for (std::uint32_t r = 0; r <= last_shard; ++r) {
      log_places const place = take<side::flat>((home + r) & last_shard, 1);
      if (place.count != 0) {
        pool[place.begin] = m;
        return true;
      }
      if (r != 0) continue;
      // Who has looked everywhere spares the others that.
      cycle = simt::load_relaxed(&control->cycle) + 1;
      if (simt::load_relaxed(&control->full) == cycle) return false;
    }
    simt::store_relaxed(&control->full, cycle);  // mutation: log-full-cycle
    return false;
  }

  /// While the log is run: the rows that may have messages of a partition.
  WARDEN_DEVICE log_rows rows_with(std::uint32_t partition) const {
    if (rows_of == nullptr) return {0, rows_written()};
    return rows_of[partition & ((1u << coarse_log2) - 1)];
  }
  /// The column of offsets of a partition.
  WARDEN_DEVICE std::uint32_t column_of(std::uint32_t partition) const {
    return rows_of == nullptr ? partition : partition >> coarse_log2;
  }
  /// Rows of offsets that were given out; while the log is run.
  WARDEN_DEVICE std::uint32_t rows_written() const {
    return control->rows < rows ? control->rows : rows;
  }
  /// What a row says of some columns, as it is stored.
  struct row_words {
    std::uint32_t first;  ///< of the columns' messages, from the row's begin
    std::uint32_t end;    ///< behind them, from there
    std::uint32_t begin;  ///< of the row, and its mark
  };
  /// What a row says of the columns from `column` on that are before `end_column`: their segments
  /// lie one behind another.
  WARDEN_DEVICE row_words words_of(std::uint32_t column, std::uint32_t end_column,
                                   std::uint32_t row) const {
    return {*offset(column, row), *offset(end_column, row), begins[row]};
  }
  /// The first place of these columns' messages, and how many there are, of `Width` places each.
  /// None, if they are not in the log: a row that is not whole, because a kernel was sending, may
  /// say so. Where the log has messages of two widths, `Mixed`, rows of the other one have none.
  template <std::uint32_t Width = 1, bool Mixed = false>
  WARDEN_DEVICE log_places segment_of(row_words const& words) const {
    std::uint32_t begin = words.begin;
    bool is_in = true;
    if constexpr (Mixed) {
      bool const is_wide = (begin & wide_row) != 0;
      begin &= ~wide_row;
      is_in = is_wide == (Width != 1);  // mutation: row-width
    }
    std::uint32_t const all = size + (last_shard + 1) * gap, count = words.end - words.first;
    is_in = is_in && words.first <= words.end && begin <= all && words.end * Width <= all - begin;
    return is_in ? log_places{begin + words.first * Width, count} : log_places{0, 0};
  }
  /// The same of one partition's column.
  WARDEN_DEVICE log_places segment(std::uint32_t column, std::uint32_t row) const {
    return segment_of(words_of(column, column + 1, row));
  }
  /// Loads `m[k]` from `places[k]` on for the bits k of `arrived`.
  template <class Loaded, unsigned Rounds>
  WARDEN_DEVICE void load(Loaded (&m)[Rounds], std::uint32_t const (&places)[Rounds],
                          unsigned arrived) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < Rounds; ++k) {
      if (arrived >> k & 1u) m[k] = *at<Loaded>(places[k]);
    }
  }
  /// The message that begins at a place: of the log's own width, or a wide one.
  template <class Found>
  WARDEN_DEVICE Found* at(std::uint32_t place) const {
    if constexpr (std::is_same_v<Found, Message>) {
      return pool + place;
    } else {
      static_assert(sizeof(Found) % sizeof(Message) == 0 && alignof(Found) == alignof(Message));
      return reinterpret_cast<Found*>(pool + place);
    }
  }
  /// The offset word of a row: where the segment of a partition begins, and the one before ends.
  WARDEN_DEVICE std::uint16_t* offset(std::uint32_t column, std::uint32_t row) const {
    return offsets + std::size_t{column} * rows + row;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
