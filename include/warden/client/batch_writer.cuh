// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a block's messages become a batch of a log: sorted by partition in shared memory (counting
/// sort), written linearly where one atomic has reserved places, with a row of offsets.
#pragma once

#include <warden/block/arena_carver.cuh>
#include <warden/block/stable_ranks.cuh>
#include <warden/channel/section_log.cuh>
#include <warden/client/batch_combiner.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Stages up to `Rounds` messages of each of a block's `Threads` threads. With `InOrder` those of
/// one partition stay in the order of rounds and threads, and batches have the order of flushes.
/// `Combiner` is a batch_combiner, or combines_nothing.
template <class Message, unsigned Threads, unsigned Rounds, bool InOrder = false,
          class Combiner = combines_nothing>
class batch_writer {
  using scan = simt::block_scan<Threads>;
  using log_type = section_log<Message>;

 public:
  /// Messages staged at most.
  static constexpr unsigned slots = Threads * Rounds;
  static_assert(slots < 0xffff, "warden: a batch has less than 65,535 messages");
  /// Partitions of a log, at most.
  static constexpr unsigned most_partitions = 512;

  /// Bytes of shared memory, aligned to 16.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }

  /// `storage` is the same for the whole block, and nobody else's while this lives. Collective.
  WARDEN_DEVICE batch_writer(log_type const& log, std::byte* storage)
      : batch_writer{log, storage, layout{}} {
    simt::sync_block();  // whoever had the storage before is done with it
    clear();
    simt::sync_block();
  }

  /// Stages this thread's message of one round, below `Rounds`.
  WARDEN_DEVICE void stage(unsigned round, Message const& m) const {
    stage_at(round * Threads + simt::thread_rank(), m);
  }
  /// The same for a slot; in order they are those of their slots.
  WARDEN_DEVICE void stage_at(unsigned slot, Message const& m) const {
    staged_[slot] = m;
    if constexpr (InOrder) {
      ranks_[slot] = 0;  // found when all are there
    } else {
      std::uint32_t const partition = log_.partitions.partition_of(m.local());
      ranks_[slot] = static_cast<std::uint16_t>(simt::shared_fetch_add(counts_[partition], 1u));
    }
  }
  /// This thread has no message in this round.
  WARDEN_DEVICE void stage_nothing(unsigned round) const {
    stage_nothing_at(round * Threads + simt::thread_rank());  // sabotage: partial-round
  }
  /// There is no message in this slot.
  WARDEN_DEVICE void stage_nothing_at(unsigned slot) const { ranks_[slot] = no_message; }

  /// Writes what was staged in `used` rounds to places of the log. Returns how many messages found
  /// none. Looks in region `turn` first, modulo their number. Collective.
  WARDEN_DEVICE std::uint32_t flush(unsigned used, std::uint32_t turn) {
    if constexpr (combines) combine(used);
    std::uint32_t const total = sort(used);
    std::uint32_t done = 0, tried = 0;
    while (done < total) {
      if (simt::warp_rank() == 0) tried = reserve(turn, tried, total - done);
      simt::sync_block();
      log_places const places = places_[0];
      if (places.count == 0) break;
      copy_out(done, places);
      if (row_[0] != log_type::no_row) {
        write_row(row_[0], done, places);
        if constexpr (InOrder) number_row(row_[0]);
      }
      done += places.count;
      simt::sync_block();  // sabotage: places-reused
    }
    clear();
    simt::sync_block();
    return total - done;
  }
  /// Writes what was staged in `used` rounds to places that are the block's already, as many as
  /// there are messages, with any row. Collective.
  WARDEN_DEVICE void write(unsigned used, std::uint32_t begin) const {
    if (simt::thread_rank() == 0) row_[0] = log_.take_row();
    std::uint32_t const total = sort(used);
    write_sorted(row_[0], {begin, total});
  }
  /// The same with the row `row`. Nothing is written if there are more messages than `places`.
  /// Returns how many there are.
  WARDEN_DEVICE std::uint32_t write(unsigned used, log_places places, std::uint32_t row) const {
    std::uint32_t const total = sort(used);
    write_sorted(total <= places.count ? row : log_type::no_row, {places.begin, total});
    return total;
  }

 private:
  using stable = stable_ranks<Threads, most_partitions>;
  static constexpr bool combines = !std::is_same_v<Combiner, combines_nothing>;

  struct layout {
    WARDEN_HOST_DEVICE constexpr layout()
        : staged{carver.take<Message>(slots)},
          counts{carver.take<std::uint32_t>(most_partitions)},
          scanning{carver.take<typename scan::storage>(1)},
          places{carver.take<log_places>(1)},
          row{carver.take<std::uint32_t>(1)},
          ranks{carver.take<std::uint16_t>(slots)},
          ranking{carver.take<std::uint16_t>(InOrder ? stable::size : 0)},
          combining{carver.take<typename Combiner::storage>(combines ? 1 : 0)} {}
    arena_carver carver{};
    arena_piece<Message> staged;
    arena_piece<std::uint32_t> counts;
    arena_piece<typename scan::storage> scanning;
    arena_piece<log_places> places;
    arena_piece<std::uint32_t> row;
    arena_piece<std::uint16_t> ranks;
    arena_piece<std::uint16_t> ranking;
    arena_piece<typename Combiner::storage> combining;
  };

  static constexpr std::uint16_t no_message = 0xffff;
  /// Batches that are not looked at behind one where nothing repeated.
  static constexpr std::uint32_t unlooked_batches = 3;
  /// Partitions for each thread, where there are as many as there may be.
  static constexpr unsigned each = (most_partitions + Threads - 1) / Threads;

  WARDEN_DEVICE batch_writer(log_type const& log, std::byte* storage, layout const& at)
      : log_{log},
        staged_{at.staged.in(storage)},
        counts_{at.counts.in(storage)},
        scan_{at.scanning.in(storage)},
        places_{at.places.in(storage)},
        row_{at.row.in(storage)},
        ranks_{at.ranks.in(storage)},
        stable_{at.ranking.in(storage)},
        combining_{at.combining.in(storage)} {}

  /// To a row of the log, and its places; nothing is written if there is none.
  WARDEN_DEVICE void write_sorted(std::uint32_t row, log_places places) const {
    if (row < log_.rows) {
      copy_out(0, places);
      write_row(row, 0, places);
    }
    simt::sync_block();
    clear();
    simt::sync_block();
  }

  WARDEN_DEVICE void clear() const {
    for (std::uint32_t p = simt::thread_rank(); p < log_.partitions.partitions(); p += Threads)
      counts_[p] = 0;
  }

  /// Combines what repeats, and ranks what is left if anything did. Where nothing did the next few
  /// batches are not even looked at. Collective.
  WARDEN_DEVICE void combine(unsigned used) {
    if (unlooked_ != 0) {
      --unlooked_;
      return;
    }
    simt::sync_block();
    if (!Combiner::run(combining_[0], staged_, ranks_, used)) {
      unlooked_ = unlooked_batches;
      return;
    }
    clear();
    simt::sync_block();  // sabotage: log-ranked
    WARDEN_UNROLL
    for (unsigned r = 0; r < Rounds; ++r) {
      unsigned const slot = r * Threads + simt::thread_rank();
      if (r < used && ranks_[slot] != no_message) stage(r, staged_[slot]);
    }
  }

  /// The slot that this thread ranks as its item `r`. In order a warp has neighbouring slots.
  WARDEN_DEVICE static unsigned slot_of(unsigned r, unsigned used) {
    return InOrder ? (simt::warp_rank() * used + r) * simt::warp_size + simt::lane_id()
                   : r * Threads + simt::thread_rank();
  }
  WARDEN_DEVICE std::uint32_t partition_of(unsigned slot) const {
    return log_.partitions.partition_of(staged_[slot].local());
  }

  /// Turns counts into offsets and ranks into an order. Returns the number of messages. Collective.
  WARDEN_DEVICE std::uint32_t sort(unsigned used) const {
    unsigned const me = simt::thread_rank();
    std::uint32_t const partitions = log_.partitions.partitions();
    simt::sync_block();
    std::uint16_t place[Rounds];
    if constexpr (InOrder) {
      stable_.start();
      WARDEN_UNROLL
      for (unsigned r = 0; r < Rounds; ++r) {
        if (r >= used) break;
        unsigned const slot = slot_of(r, used);
        place[r] = ranks_[slot];
        bool const is = place[r] != no_message;
        std::uint32_t const rank = stable_.rank(is ? partition_of(slot) : 0, is);
        if (is) place[r] = static_cast<std::uint16_t>(rank);
      }
      simt::sync_block();
    }
    std::uint32_t mine[each], sum = 0, total;
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      std::uint32_t const p = me * each + k;
      if constexpr (InOrder) {
        mine[k] = p < partitions ? stable_.add_up(p) : 0;
      } else {
        mine[k] = p < partitions ? counts_[p] : 0;
      }
      sum += mine[k];
    }
    std::uint32_t begin = scan::exclusive_sum(scan_[0], sum, total);
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      std::uint32_t const p = me * each + k;
      if (p < partitions) counts_[p] = begin;
      begin += mine[k];
    }
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned r = 0; r < Rounds; ++r) {
      unsigned const slot = slot_of(r, used);
      if constexpr (!InOrder) place[r] = r < used ? ranks_[slot] : no_message;
      if (r >= used) place[r] = no_message;
      if (place[r] != no_message) {
        std::uint32_t const p = partition_of(slot);
        std::uint32_t const before = counts_[p] + (InOrder ? stable_.before(p) : 0);
        place[r] = static_cast<std::uint16_t>(place[r] + before);
      }
    }
    // The order lies where the ranks were.
    simt::sync_block();  // sabotage: order-over-ranks
    WARDEN_UNROLL
    for (unsigned r = 0; r < Rounds; ++r) {
      if (place[r] != no_message) ranks_[place[r]] = static_cast<std::uint16_t>(slot_of(r, used));
    }
    simt::sync_block();
    return total;
  }

  /// Places for up to `count` messages, in the first region that has any, of those not `tried`; and
  /// a row for them if they are a batch. Returns how many regions have been tried. Collective over
  /// the first warp.
  WARDEN_DEVICE std::uint32_t reserve(std::uint32_t turn, std::uint32_t tried,
                                      std::uint32_t count) const {
    bool const is_batch = count >= log_.least_batch;
    log_places places{0, 0};
    while (tried <= log_.last_region && places.count == 0) {
      // The first one is taken for good; behind it the lanes look for one together.
      std::uint32_t const mine = tried + simt::lane_id();
      bool const hopeful = tried == 0 ? simt::lane_id() == 0
                                      : mine <= log_.last_region &&
                                            !log_.looks_full((turn + mine) & log_.last_region);
      int const found = simt::first_bit(simt::ballot(simt::full_warp, hopeful));
      if (found < 0) {
        tried += simt::warp_size;
        continue;
      }
      tried += static_cast<unsigned>(found) + 1;
      if (simt::lane_id() == 0) {
        std::uint32_t const region = (turn + tried - 1) & log_.last_region;
        places = is_batch ? log_.template take<log_type::side::batch>(region, count)
                          : log_.template take<log_type::side::flat>(region, count);
      }
      places.count = simt::shuffle(simt::full_warp, places.count, 0);
    }
    if (simt::lane_id() == 0) {
      std::uint32_t row = log_type::no_row;
      if (is_batch && places.count != 0) {
        row = log_.take_row();
        if (row >= log_.rows) places.count = 0;
      }
      places_[0] = places;
      row_[0] = row;
    }
    return tried;
  }
  /// The messages from `first` on in their order, to these places.
  WARDEN_DEVICE void copy_out(std::uint32_t first, log_places places) const {
    for (std::uint32_t i = simt::thread_rank(); i < places.count; i += Threads)
      log_.pool[places.begin + i] = staged_[ranks_[first + i]];
  }
  /// Where the segments of these places begin.
  WARDEN_DEVICE void write_row(std::uint32_t row, std::uint32_t first, log_places places) const {
    std::uint32_t const partitions = log_.partitions.partitions();
    for (std::uint32_t p = simt::thread_rank(); p <= partitions; p += Threads) {
      std::uint32_t const offset = p < partitions ? counts_[p] : first + places.count;
      std::uint32_t const behind = offset < first ? 0 : offset - first;
      std::uint32_t const within = behind < places.count ? behind : places.count;
      *log_.offset(p, row) = static_cast<std::uint16_t>(within);  // sabotage: header
    }
    if (simt::thread_rank() == 0) log_.begins[row] = places.begin;
  }

  /// Notes where in the order the batch comes.
  WARDEN_DEVICE void number_row(std::uint32_t row) {
    if (simt::thread_rank() == 0) {
      log_.order.launches[row] = log_.order.launch;
      log_.order.blocks[row] = simt::block_rank();
      log_.order.numbers[row] = batches_;
    }
    ++batches_;
  }

  log_type const& log_;
  simt::shared_span<Message> staged_;        ///< [slot]
  simt::shared_span<std::uint32_t> counts_;  ///< [partition] messages, then where they begin
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<log_places> places_;
  simt::shared_span<std::uint32_t> row_;
  simt::shared_span<std::uint16_t> ranks_;  ///< [slot] in its partition, then [place] slot
  stable stable_;                           ///< in order
  simt::shared_span<typename Combiner::storage> combining_;
  std::uint32_t unlooked_ = 0;  ///< batches before the next one that is looked at
  std::uint32_t batches_ = 0;   ///< written so far, in order
};

/// The most rounds, up to `Rounds`, with which a `Writer` of so many fits static shared memory; 1
/// if none do.
template <template <unsigned> class Writer, unsigned Rounds>
constexpr unsigned rounds_that_fit() {
  if constexpr (Rounds <= 1 || Writer<Rounds>::shared_bytes() <= (std::size_t{48} << 10)) {
    return Rounds < 1 ? 1 : Rounds;
  } else {
    return rounds_that_fit<Writer, Rounds - 1>();
  }
}

WARDEN_NAMESPACE_END
