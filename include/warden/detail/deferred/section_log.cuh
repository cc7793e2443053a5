// SPDX-License-Identifier: Apache-2.0
/// @file
/// The log: memory in which deferred messages wait until they are run.
///
/// Its places are divided among *shards*. Each shard has one word that counts places from both
/// ends. From the front come *batches*: the messages that one block flushed, sorted by partition,
/// with a row of offsets that tells where the segment of each partition begins. From the back come
/// *flat* messages, one by one, until a run sorts them into batches. One atomic on a shard's word
/// takes a place. A sender that finds a shard full goes on to another one: no thread waits, and a
/// log of n places accepts exactly n messages, from any senders.
#pragma once

#include <warden/detail/deferred/message_places.cuh>
#include <warden/detail/deferred/run_trace.cuh>
#include <warden/detail/execute/log_shard.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Counters of one log.
struct log_control {
  std::uint32_t rows;            ///< rows of offsets taken
  std::uint32_t next_partition;  ///< next partition of the run
  std::uint32_t next_of_wide;    ///< next partition of the run of wide messages
  std::uint32_t wide_rows;       ///< at most this many rows are of wide messages; 0: none
  std::uint32_t running;         ///< number of the run at work, or 0
  std::uint32_t cycle;           ///< times that the log was emptied
  std::uint32_t full;            ///< one more than the cycle in which all shards were found full
  std::uint32_t blocks;          ///< blocks that wrote batches, if sections run in order
  std::uint32_t rows_passed;     ///< rows passed by all partitions of the run, for the throttle
  std::uint32_t blocks_ended;    ///< blocks of the run that have no partition left
  std::uint32_t sections;   ///< messages of the log, while it is run; wide ones count as places
  std::uint32_t most_flat;  ///< flat messages of the shard that has most to sort, likewise
  std::uint64_t freed;      ///< places that the combining of batches has freed
  run_trace trace;          ///< trace of the last run
};

/// Order of the batches in a log whose sections run in order: by launch, by block, and in the order
/// in which the block flushed them. Values that are the same for all batches of a block stand in
/// the row of its first batch.
struct batch_order {
  std::uint32_t* launches = nullptr;  ///< [first row] number of the ref that the launch got
  std::uint32_t* blocks = nullptr;    ///< [first row] rank of the block
  std::uint32_t* counts = nullptr;    ///< [first row] batches of the block
  std::uint32_t* firsts = nullptr;    ///< [block that wrote, unordered] its first row
  std::uint32_t* first_of = nullptr;  ///< [row] first row of the block that wrote it
  std::uint32_t* numbers = nullptr;   ///< [row] number of the batch among those of its block
  std::uint32_t* rows = nullptr;      ///< [turn] the row, or `no_row`; while the log is run
  std::uint32_t launch = 0;           ///< number of this ref
};

/// Adjacent rows of offsets.
struct log_rows {
  std::uint32_t first;  ///< first row
  std::uint32_t end;    ///< row after the last
};

/// Adjacent places that were taken.
struct log_places {
  std::uint32_t begin;  ///< first place
  std::uint32_t count;  ///< messages that go there
};

/// A log as device code sees it, passed by value.
template <class Message>
struct section_log {
  /// Side of a place: a shard's front or its back.
  enum class side : unsigned char { batch, flat };
  /// Value of a shard's word while the log is run: more than any shard holds.
  static constexpr std::uint64_t closed = std::uint64_t{1} << 31;
  /// Mark in a row's begin: its messages are wide, so each takes several places.
  static constexpr std::uint32_t wide_row = 1u << 31;
  /// Stands for no row.
  static constexpr std::uint32_t no_row = ~0u;
  /// First word of an unwritten message, in a log that is replayed.
  static constexpr std::uint32_t unwritten = ~0u;

  Message* pool = nullptr;           ///< [size] places, see message_places
  log_shard* shards = nullptr;       ///< [last_shard + 1], a power of two
  std::uint16_t* offsets = nullptr;  ///< [column + 1][row] offset from the row's begin
  std::uint32_t* begins = nullptr;   ///< [row] place of its first message, and `wide_row`
  log_control* control = nullptr;    ///< counters
  std::uint32_t size = 0;            ///< places
  std::uint32_t shard_size = 0;      ///< places of a shard; the last one may have fewer
  std::uint32_t last_shard = 0;      ///< index of the last shard, which is also a mask
  std::uint32_t rows = 0;            ///< rows of offsets
  std::uint32_t gap = 0;             ///< places between both ends of a full shard
  std::uint32_t least_batch = 0;     ///< least number of messages of a batch that a block sends
  partition_map partitions;          ///< map from record to partition
  batch_order order;                 ///< order of the batches; all zero if there is none
  /// [coarse partition] rows that have its messages, in a log that is split: each partition of a
  /// log is sorted once more. Null otherwise.
  log_rows* rows_of = nullptr;
  std::uint32_t coarse_log2 = 0;  ///< log2 of the partitions of the log that was split

  /// Returns the first place of a shard.
  WARDEN_DEVICE std::uint32_t begin_of(std::uint32_t shard) const {
    return shard * (shard_size + gap);
  }
  /// Returns the number of places of a shard, without its gap.
  WARDEN_DEVICE std::uint32_t size_of(std::uint32_t shard) const {
    std::uint32_t const before = shard * shard_size;
    if (before >= size) return 0;
    return size - before < shard_size ? size - before : shard_size;
  }
  /// Returns the place where `flat` flat messages of a shard begin.
  WARDEN_DEVICE std::uint32_t flat_begin(std::uint32_t shard, std::uint32_t flat) const {
    return begin_of(shard) + size_of(shard) + gap - flat;
  }

  /// Takes places for up to `messages` messages of `Width` places in one shard, by one atomic on
  /// its word; fewer if the shard has fewer. The last message may reach into the gap. Increments
  /// past a full shard are ignored: the thread that fills it records the number of flat messages,
  /// and a run empties it by one store, also while other threads add.
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
      // Long before a half overflows, one of very many threads finds the word as that thread left
      // it, and resets it.
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
  /// Takes a row of offsets for a batch. There are as many rows as there can be batches. If a
  /// kernel sends while the log is emptied, the number may exceed them.
  WARDEN_DEVICE std::uint32_t take_row() const { return simt::fetch_add(&control->rows, 1u); }
  /// True if a shard has no place. That may change a moment later.
  WARDEN_DEVICE bool looks_full(std::uint32_t shard) const {
    std::uint64_t const taken = simt::load_relaxed(&shards[shard].taken);
    return (taken & 0xffffffffu) + (taken >> 32) >= size_of(shard);
  }

  /// Closes a shard: no place is taken from here on. One thread.
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

  /// Returns the flat messages that are not in batches, while the log is run.
  WARDEN_DEVICE log_places unsorted(std::uint32_t shard) const {
    log_shard const& r = shards[shard];
    return {flat_begin(shard, r.flat), r.flat > r.sorted ? r.flat - r.sorted : 0};
  }

  /// Reopens a closed shard with its messages. If its flat messages `are_sorted`, they are in
  /// batches from here on. One thread.
  WARDEN_DEVICE void reopen(std::uint32_t shard, bool are_sorted) const {
    log_shard& r = shards[shard];
    if (are_sorted) r.sorted = r.flat;  // mutation: sorted-twice
    simt::store_relaxed(&r.taken, std::uint64_t{r.flat} << 32 | r.batches);
  }

  /// Writes one flat message to any shard, first trying `home`. Returns false if all are full.
  WARDEN_DEVICE bool put(std::uint32_t home, Message const& m) const {
    std::uint32_t cycle = 0;
    for (std::uint32_t r = 0; r <= last_shard; ++r) {
      log_places const place = take<side::flat>((home + r) & last_shard, 1);
      if (place.count != 0) {
        pool[place.begin] = m;
        return true;
      }
      if (r != 0) continue;
      // A thread that has found all shards full spares the others the search.
      cycle = simt::load_relaxed(&control->cycle) + 1;
      if (simt::load_relaxed(&control->full) == cycle) return false;
    }
    simt::store_relaxed(&control->full, cycle);  // mutation: log-full-cycle
    return false;
  }

  /// Returns the rows that may have messages of a partition, while the log is run.
  WARDEN_DEVICE log_rows rows_with(std::uint32_t partition) const {
    if (rows_of == nullptr) return {0, rows_written()};
    return rows_of[partition & ((1u << coarse_log2) - 1)];
  }
  /// Returns the column of offsets of a partition.
  WARDEN_DEVICE std::uint32_t column_of(std::uint32_t partition) const {
    return rows_of == nullptr ? partition : partition >> coarse_log2;
  }
  /// Returns the number of rows taken, while the log is run.
  WARDEN_DEVICE std::uint32_t rows_written() const {
    return control->rows < rows ? control->rows : rows;
  }
  /// Description of some columns in a row, as it is stored.
  struct row_words {
    std::uint32_t first;  ///< first message of the columns, from the row's begin
    std::uint32_t end;    ///< end of their messages, from the row's begin
    std::uint32_t begin;  ///< begin of the row, and its mark
  };
  /// Returns a row's description of the columns from `column` on and before `end_column`. Their
  /// segments are adjacent.
  WARDEN_DEVICE row_words words_of(std::uint32_t column, std::uint32_t end_column,
                                   std::uint32_t row) const {
    return {*offset(column, row), *offset(end_column, row), begins[row]};
  }
  /// Returns the first place of these columns' messages, of `Width` places each, and their number.
  /// Returns none if they are not in the log: an incomplete row, of a kernel that is sending, may
  /// say so. In a `Mixed` log, with messages of two widths, rows of the other width have none.
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
  /// Returns the first place and the number of one partition's messages in a row.
  WARDEN_DEVICE log_places segment(std::uint32_t column, std::uint32_t row) const {
    return segment_of(words_of(column, column + 1, row));
  }
  /// Loads `m[k]` from `places[k]` for the bits k of `arrived`.
  template <class Loaded, unsigned PerThread>
  WARDEN_DEVICE void load(Loaded (&m)[PerThread], std::uint32_t const (&places)[PerThread],
                          unsigned arrived) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < PerThread; ++k) {
      if (arrived >> k & 1u) m[k] = *at<Loaded>(places[k]);
    }
  }
  /// Returns the message that begins at a place: of the log's own width, or a wide one.
  template <class Found>
  WARDEN_DEVICE Found* at(std::uint32_t place) const {
    if constexpr (std::is_same_v<Found, Message>) {
      return pool + place;
    } else {
      static_assert(sizeof(Found) % sizeof(Message) == 0 && alignof(Found) == alignof(Message));
      return reinterpret_cast<Found*>(pool + place);
    }
  }
  /// Returns the offset of a row where the segment of a partition begins, and the one before ends.
  WARDEN_DEVICE std::uint16_t* offset(std::uint32_t column, std::uint32_t row) const {
    return offsets + std::size_t{column} * rows + row;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
