// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the exchange of a log: they count the messages for each rank, pack them, and make one
/// log of the arrived messages.
///
/// A log's partitions are those of all ranks, rank by rank, so the messages of one batch for one
/// rank are one piece. The packed pieces for a rank are adjacent, in any order. A header holds for
/// each row where its piece begins, and where the segment of each partition begins within the
/// piece. It has one column more than a rank has partitions, each column by row. The receiver
/// concatenates the headers and runs the messages in place.
#pragma once

#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Words that each rank sends to all others: the number of the log that it runs, the rows of that
/// log, and the places of its messages for each rank.
struct exchange_table {
  std::uint32_t const* words;  ///< [rank][`words_each(ranks)`]
  std::uint32_t ranks;         ///< number of ranks
  bool packs_own;              ///< true if messages for the own rank are packed, too
  /// The messages packed for one rank, or arriving from one, begin at a multiple of this number of
  /// places, a power of two. They are aligned to 16 bytes, because NCCL copies unaligned data byte
  /// by byte.
  std::uint32_t aligned;
  /// Places that a table of partials takes, which has a cell for each record of a rank; 0 if no
  /// rank sends tables.
  std::uint32_t table_places;

  /// Returns the number of words that each rank sends.
  WARDEN_HOST_DEVICE static std::uint32_t words_each(std::uint32_t ranks) { return 2 + ranks; }
  /// Returns the number of the log that the rank runs, or 0 if its records are in use.
  WARDEN_HOST_DEVICE std::uint32_t log(std::uint32_t rank) const { return words_of(rank)[0]; }
  /// Returns the rows of that rank's log.
  WARDEN_HOST_DEVICE std::uint32_t rows(std::uint32_t rank) const { return words_of(rank)[1]; }
  /// Returns the places of the messages of rank `from` for rank `to`.
  WARDEN_HOST_DEVICE std::uint32_t places(std::uint32_t from, std::uint32_t to) const {
    return words_of(from)[2 + to];
  }
  /// True if rank `from` sends rank `to` a table of partials instead of messages: if the table
  /// takes at most half of the places. Each cell is accessed several times, each message once.
  WARDEN_HOST_DEVICE bool sends_table(std::uint32_t from, std::uint32_t to) const {
    return table_places != 0 && from != to && table_places <= places(from, to) / 2;
  }
  /// Returns the places that rank `from` packs for rank `to`: of messages, or of a table.
  WARDEN_HOST_DEVICE std::uint32_t packed(std::uint32_t from, std::uint32_t to) const {
    if (sends_table(from, to)) return table_places;
    return from == to && !packs_own ? 0 : places(from, to);  // mutation: home-twice
  }
  /// True if rank `from` sends rank `to` messages, with a header.
  WARDEN_HOST_DEVICE bool sends_rows(std::uint32_t from, std::uint32_t to) const {
    return packed(from, to) != 0 && !sends_table(from, to);
  }
  /// Returns `packed`, and the places left free after it.
  WARDEN_HOST_DEVICE std::uint32_t spaced(std::uint32_t from, std::uint32_t to) const {
    return (packed(from, to) + aligned - 1) & ~(aligned - 1);
  }
  /// Returns where the messages from rank `from` to rank `to` begin: after those from all ranks
  /// before `from`.
  WARDEN_HOST_DEVICE std::uint32_t packed_before(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t sum = 0;
    for (std::uint32_t r = 0; r < from; ++r) sum += spaced(r, to);
    return sum;
  }
  /// Returns where the messages from rank `from` to rank `to` are packed: after those for all ranks
  /// before `to`.
  WARDEN_HOST_DEVICE std::uint32_t packed_below(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t sum = 0;
    for (std::uint32_t r = 0; r < to; ++r) sum += spaced(from, r);
    return sum;
  }
  /// Returns the rows that come to rank `to` from the ranks before `from`.
  WARDEN_HOST_DEVICE std::uint32_t rows_before(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t sum = 0;
    for (std::uint32_t r = 0; r < from; ++r) sum += sends_rows(r, to) ? rows(r) : 0;
    return sum;
  }

 private:
  WARDEN_HOST_DEVICE std::uint32_t const* words_of(std::uint32_t rank) const {
    return words + std::size_t{rank} * words_each(ranks);
  }
};

/// Header of the messages of a log of `rows` rows for one rank.
struct exchange_header {
  std::uint32_t* begins;   ///< [row] begin of its piece, and `wide_row`; or `no_row`
  std::uint16_t* offsets;  ///< [column, and one more][row] offset from there

  /// Returns the bytes of a header for a rank with `columns` partitions, a multiple of 16.
  WARDEN_HOST_DEVICE static std::size_t bytes(std::uint32_t rows, std::uint32_t columns) {
    std::size_t const used =
        std::size_t{rows} * (sizeof(std::uint32_t) + sizeof(std::uint16_t) * (columns + 1));
    return (used + 15) / 16 * 16;
  }
  /// Returns the header at that address.
  WARDEN_HOST_DEVICE static exchange_header at(std::byte* memory, std::uint32_t rows) {
    auto* const begins = reinterpret_cast<std::uint32_t*>(memory);
    return {begins, reinterpret_cast<std::uint16_t*>(begins + rows)};
  }
};

/// Arguments of the kernel that counts.
template <class Ref>
struct count_arguments {
  run_arguments<Ref> run;
  std::uint32_t* counts_out;  ///< words of this rank, 0 before the launch
  std::uint32_t ranks;        ///< number of ranks
  std::uint32_t columns;      ///< partitions of a rank
  std::uint32_t log_number;   ///< the same on all ranks
};

/// Returns a row's messages of the columns from `first` up to `end`, in places of narrow messages.
template <class Ref>
WARDEN_DEVICE log_places piece_of(typename Ref::log_type const& log, std::uint32_t first,
                                  std::uint32_t end, std::uint32_t row) {
  constexpr bool mixed = Ref::formats::two_widths;
  log_places piece = log.template segment_of<1, mixed>(log.words_of(first, end, row));
  if constexpr (mixed) {
    if (piece.count != 0) return piece;
    constexpr unsigned width = Ref::formats::places;
    piece = log.template segment_of<width, mixed>(log.words_of(first, end, row));
    piece.count *= width;
  }
  return piece;
}

/// Counts a closed log's messages for each rank, including flat messages. Grid: any, with a word of
/// shared memory for each rank. Writes nothing if the run is put off.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1)
    count_by_rank(count_arguments<Ref> a) {
  simt::assume_one_dimension();
  auto const& log = a.run.ref.log;
  if (!a.run.runs()) return;
  constexpr std::uint32_t tile = flat_writer<Ref>::slots;
  simt::shared_span<std::uint32_t> const counts{
      reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), a.ranks};
  for (std::uint32_t r = simt::thread_rank(); r < a.ranks; r += simt::block_threads())
    simt::shared_store(counts[r], 0u);
  simt::sync_block();
  std::uint32_t const rank = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  std::uint32_t const rows = log.rows_written();
  for (std::uint32_t r = 0; r < a.ranks; ++r) {
    std::uint32_t sum = 0;
    for (std::uint32_t row = rank; row < rows; row += step)
      sum += piece_of<Ref>(log, r * a.columns, (r + 1) * a.columns, row).count;
    if (sum != 0) simt::shared_fetch_add(counts[r], sum);
  }
  std::uint32_t const tiles = (log.shard_size + tile - 1) / tile;
  std::uint32_t tiles_used = 0;
  for (std::uint32_t i = simt::block_rank(); i < tiles * (log.last_shard + 1);
       i += simt::block_count()) {
    std::uint32_t const shard = i & log.last_shard;
    log_places const unsorted = log.unsorted(shard);
    std::uint32_t const first = i / (log.last_shard + 1) * tile;
    if (first >= unsorted.count) continue;
    ++tiles_used;
    std::uint32_t const begin = unsorted.begin;
    std::uint32_t const end = first + tile < unsorted.count ? first + tile : unsorted.count;
    for (std::uint32_t m = first + simt::thread_rank(); m < end; m += simt::block_threads()) {
      std::uint32_t const to = a.run.ref.bits.place(log.pool[begin + m].local()).server;
      if (to < a.ranks) simt::shared_fetch_add(counts[to], 1u);  // mutation: count-lost
    }
  }
  simt::sync_block();
  for (std::uint32_t r = simt::thread_rank(); r < a.ranks; r += simt::block_threads()) {
    std::uint32_t const sum = simt::shared_load(counts[r]);
    if (sum != 0) simt::fetch_add(&a.counts_out[2 + r], sum);
  }
  if (simt::thread_rank() != 0) return;
  // Each tile becomes a batch with a row.
  std::uint32_t const more = tiles_used + (simt::block_rank() == 0 ? rows : 0);
  if (more != 0) {
    // Tiles that find no row are lost, as on one device. The count does not exceed the existing
    // rows.
    std::uint32_t const all = simt::fetch_add(&a.counts_out[1], more) + more;
    std::uint32_t const beyond = all > log.rows ? all - log.rows : 0;
    if (beyond != 0) simt::fetch_add(&a.counts_out[1], 0u - (beyond < more ? beyond : more));
  }
  if (simt::block_rank() == 0) simt::store_relaxed(&a.counts_out[0], a.log_number);
}

/// Arguments of the kernel that packs.
template <class Ref>
struct pack_arguments {
  run_arguments<Ref> run;
  exchange_table table;                ///< table of all ranks
  std::uint32_t own;                   ///< this rank
  std::uint32_t columns;               ///< partitions of one rank
  std::uint32_t* cursors;              ///< [rank] places taken, 0 before the launch
  typename Ref::message_type* pieces;  ///< [rank, `table.packed`] one after another
  std::byte* headers;                  ///< [rank] headers of the log's rows
};

/// One block's part of packing: whole rows of pieces, and whole columns of headers.
template <class Ref>
class log_packer {
  using log_type = typename Ref::log_type;
  /// Messages of a row for one rank.
  struct piece {
    log_places from;
    std::uint32_t to;  ///< place among all packed messages, or `nowhere`
  };
  static constexpr std::uint32_t nowhere = ~0u;

 public:
  /// Bytes of shared memory.
  static std::size_t shared_bytes(std::uint32_t ranks) { return ranks * sizeof(piece); }

  /// Constructs a packer. `storage` is shared memory of `shared_bytes` bytes, the same for the
  /// whole block.
  WARDEN_DEVICE log_packer(pack_arguments<Ref> const& a, std::byte* storage)
      : a_{a},
        log_{a.run.ref.log},
        rows_{a.table.rows(a.own)},
        found_{reinterpret_cast<piece*>(storage), a.table.ranks} {}

  /// Packs this block's rows and columns. Collective over the block.
  WARDEN_DEVICE void run() const {
    for (std::uint32_t turn = simt::block_rank(); turn < rows_; turn += simt::block_count()) {
      for (std::uint32_t r = simt::thread_rank(); r < a_.table.ranks; r += simt::block_threads())
        found_[r] = find(r, turn);
      simt::sync_block();
      for (std::uint32_t r = 0; r < a_.table.ranks; ++r) {
        piece const p = found_[r];
        if (p.to == nowhere) continue;
        copy(p);
      }
      simt::sync_block();
    }
    std::uint32_t const each = a_.columns + 1;
    for (std::uint32_t c = simt::block_rank(); c < a_.table.ranks * each; c += simt::block_count())
      write_column(c / each, c % each);
  }

 private:
  WARDEN_DEVICE exchange_header header_of(std::uint32_t rank) const {
    return exchange_header::at(a_.headers + rank * exchange_header::bytes(rows_, a_.columns),
                               rows_);
  }
  /// Returns the row at position `turn` of the log's order; without an order, row `turn`.
  WARDEN_DEVICE std::uint32_t row_of(std::uint32_t turn) const {
    if constexpr (Ref::in_order) {
      return log_.order.rows[turn];  // mutation: packed-in-order
    } else {
      return turn;
    }
  }
  /// Copies a piece by the whole block.
  WARDEN_DEVICE void copy(piece const& p) const {
    constexpr unsigned at_once = 4;  ///< loads in progress at the same time
    std::uint32_t const threads = simt::block_threads();
    typename Ref::message_type const* const from = log_.pool + p.from.begin;
    typename Ref::message_type* const to = a_.pieces + p.to;
    for (std::uint32_t i = simt::thread_rank(); i < p.from.count; i += at_once * threads) {
      typename Ref::message_type taken[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (i + k * threads < p.from.count) taken[k] = from[i + k * threads];
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (i + k * threads < p.from.count) to[i + k * threads] = taken[k];
      }
    }
  }
  /// Reserves places for a row's messages for a rank, and writes its begin into that rank's header.
  WARDEN_DEVICE piece find(std::uint32_t rank, std::uint32_t turn) const {
    piece found{{0, 0}, nowhere};
    if (!a_.table.sends_rows(a_.own, rank)) return found;
    std::uint32_t const all = a_.table.packed(a_.own, rank);
    std::uint32_t const row = row_of(turn);
    std::uint32_t begin = log_type::no_row;
    if (row != log_type::no_row) {
      found.from = piece_of<Ref>(log_, rank * a_.columns, (rank + 1) * a_.columns, row);
      std::uint32_t const count = found.from.count;
      std::uint32_t const place = count == 0 ? 0 : simt::fetch_add(&a_.cursors[rank], count);
      if (count != 0 && place <= all && count <= all - place) {  // mutation: late-row
        found.to = a_.table.packed_below(a_.own, rank) + place;
        begin = place;
        if constexpr (Ref::formats::two_widths) begin |= log_.begins[row] & log_type::wide_row;
      } else if (count != 0) {
        // A kernel that was sending has written the row after it was counted.
        simt::fetch_add(&a_.run.ref.report->not_whole, std::uint64_t{count});
      }
    }
    header_of(rank).begins[turn] = begin;
    return found;
  }
  /// Writes where the segments of one partition begin, relative to the piece; in the last column,
  /// where the last segments end.
  WARDEN_DEVICE void write_column(std::uint32_t rank, std::uint32_t column) const {
    if (!a_.table.sends_rows(a_.own, rank)) return;
    std::uint32_t const first = rank * a_.columns;
    std::uint16_t* const to = header_of(rank).offsets + std::size_t{column} * rows_;
    for (std::uint32_t turn = simt::thread_rank(); turn < rows_; turn += simt::block_threads()) {
      std::uint32_t const row = row_of(turn);
      if (row == log_type::no_row) {
        to[turn] = 0;
      } else {
        to[turn] = static_cast<std::uint16_t>(*log_.offset(first + column, row) -
                                              *log_.offset(first, row));
      }
    }
  }

  pack_arguments<Ref> const& a_;
  log_type const& log_;
  std::uint32_t rows_;
  simt::shared_span<piece> found_;  ///< [rank]
};

/// Packs a closed and sorted log. Grid: any.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1)
    pack_by_rank(pack_arguments<Ref> a) {
  simt::assume_one_dimension();
  log_packer<Ref>{a, simt::dynamic_shared()}.run();
}

/// Arguments of the kernel that joins.
template <class Ref>
struct join_arguments {
  typename Ref::log_type to;  ///< log of the arrived messages, which are in its pool already
  exchange_table table;       ///< table of all ranks
  std::uint32_t own;          ///< this rank
  std::uint32_t columns;      ///< partitions of one rank
  std::byte* headers;         ///< headers of the ranks that sent messages, one after another
  std::uint32_t number;       ///< number of the run
  /// Not 0 if the communicator has failed, so that messages may be missing. Then nothing of the log
  /// is run. Null if it cannot fail.
  std::uint32_t const* failed;
};

/// Makes one log of the arrived messages, rank by rank. Grid: any.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1) join_ranks(join_arguments<Ref> a) {
  simt::assume_one_dimension();
  using log_type = typename Ref::log_type;
  std::byte* memory = a.headers;
  std::uint32_t first_row = 0, first_place = 0;
  for (std::uint32_t from = 0; from < a.table.ranks; ++from) {
    std::uint32_t const place = first_place;
    first_place += a.table.spaced(from, a.own);
    if (!a.table.sends_rows(from, a.own)) continue;
    std::uint32_t const rows = a.table.rows(from);
    exchange_header const header = exchange_header::at(memory, rows);
    // One column more than partitions, where the last segments end; and one for the begins of rows.
    for (std::uint32_t c = simt::block_rank(); c < a.columns + 2; c += simt::block_count()) {
      for (std::uint32_t row = simt::thread_rank(); row < rows; row += simt::block_threads()) {
        if (c <= a.columns) {
          *a.to.offset(c, first_row + row) = header.offsets[std::size_t{c} * rows + row];
        } else {
          std::uint32_t const begin = header.begins[row];
          a.to.begins[first_row + row] =
              begin == log_type::no_row ? begin : begin + place;  // mutation: piece-begin
        }
      }
    }
    memory += exchange_header::bytes(rows, a.columns);
    first_row += rows;  // mutation: header-lost
  }
  if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
  *a.to.control = {};
  // The host writes this word, and then aborts the exchange, for whose end this kernel waits.
  if (a.failed != nullptr && simt::load_relaxed(a.failed) != 0) return;  // mutation: join-lost
  simt::store_relaxed(&a.to.control->running, a.number);
  a.to.control->rows = first_row;
  // Any of the rows may be wide.
  if constexpr (Ref::formats::two_widths) a.to.control->wide_rows = first_row;
}

}  // namespace detail
WARDEN_NAMESPACE_END
