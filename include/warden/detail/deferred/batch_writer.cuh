// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a block's messages become a batch of a log: sorted by partition in shared memory (counting
/// sort), written linearly where one atomic has reserved places, with a row of offsets.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/arrival_ranks.cuh>
#include <warden/detail/block/byte_ranks.cuh>
#include <warden/detail/deferred/batch_combiner.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Stages up to `Rounds` messages of each of a block's `Threads` threads. With `InOrder` those of
/// one partition stay in the order of rounds and threads, and batches have the order of flushes.
/// `Combiner` is a batch_combiner, or combines_nothing.
template <class Message, unsigned Threads, unsigned Rounds, bool InOrder = false,
          class Combiner = combines_nothing>
class batch_writer {
  static constexpr bool combines = !std::is_same_v<Combiner, combines_nothing>;
  /// Whether what combines is in functions of its own.
  static constexpr bool outlines = Combiner::two_widths;
  using scan = simt::block_scan_by_warps<Threads>;
  using log_type = section_log<Message>;

 public:
  /// Messages staged at most.
  static constexpr unsigned slots = Threads * Rounds;
  static_assert(slots < 0xffff, "warden: a batch has less than 65,535 messages");
  /// Partitions of a log, at most.
  static constexpr unsigned most_partitions = 512;

 private:
  /// And as many as most logs have, at most.
  static constexpr unsigned usual_partitions = 128;
  /// Finds the order of messages by partition.
  using ranking = std::conditional_t<InOrder, byte_ranks<Threads, most_partitions>,
                                     arrival_ranks<Threads, most_partitions>>;

 public:
  /// Rounds that a batch may have.
  static constexpr unsigned most_rounds = ranking::most_rounds;
  static_assert(Rounds <= most_rounds);

  /// Bytes of shared memory, aligned to 16.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }

  /// `storage` is the same for the whole block, and nobody else's while this lives. Collective.
  WARDEN_DEVICE batch_writer(log_type const& log, std::byte* storage)
      : batch_writer{log, storage, layout{}} {
    // Other threads of the block may still read what the storage held before.
    simt::sync_block();  // mutation: storage-barrier
    // A block of another size, which stages nothing, would reach beyond the storage.
    if (simt::block_threads() == Threads) clear();
    if constexpr (outlines) {
      // For all, behind the barrier that follows.
      if (simt::thread_rank() == 0) layout{}.log.in(storage)[0] = log;
    }
    simt::sync_block();
  }

  /// Stages this thread's message of one round, below `Rounds`.
  WARDEN_DEVICE void stage(unsigned round, Message const& m) const {
    stage_at(staging_slot(round), m);
  }
  /// The same for a slot; in order they are those of their slots.
  WARDEN_DEVICE void stage_at(unsigned slot, Message const& m) const {
    staged_[slot] = m;
    if constexpr (combines) {
      if (combiner_.is_on()) {
        ranks_[slot] = combiner_.rank(m);
        return;
      }
    }
    std::uint32_t const partition = log_.partitions.partition_of(m.local());
    if constexpr (InOrder) {
      ranks_[slot] = static_cast<std::uint16_t>(partition);  // ranked when all are there
    } else {
      ranks_[slot] = rank_in(partition);
    }
  }
  /// This thread has no message in this round.
  WARDEN_DEVICE void stage_nothing(unsigned round) const {
    stage_nothing_at(staging_slot(round));  // mutation: partial-round
  }
  /// There is no message in this slot.
  WARDEN_DEVICE void stage_nothing_at(unsigned slot) const { ranks_[slot] = no_message; }

  /// Combines what was staged in `used` rounds, if the sections combine. Returns how many rounds
  /// are in use then, the same in every thread: fewer, if the batch `may_go_on`. Collective.
  WARDEN_DEVICE unsigned combine(unsigned used, bool may_go_on) {
    if constexpr (combines) {
      if (combiner_.passes()) return used;
      if constexpr (outlines) {
        auto const after =
            look_and_combine(staged_.data(), combiner_.known(), used, log_.least_batch, may_go_on);
        combiner_.go_on(after.now);  // mutation: state-back
        return after.used;
      } else {
        return combiner_.run(used, log_.least_batch, may_go_on);
      }
    } else {
      return used;
    }
  }
  /// Whether a batch with so many rounds in use, behind `combine`, is to be written.
  WARDEN_DEVICE static bool is_full(unsigned used) {
    if constexpr (combines) {
      return Combiner::is_full(used);
    } else {
      return used >= Rounds;
    }
  }

  /// Writes what was staged in `used` rounds to places of the log. Returns how many messages found
  /// none. Looks in shard `turn` first, modulo their number. Collective.
  WARDEN_DEVICE std::uint32_t flush(unsigned used, std::uint32_t turn) {
    if constexpr (outlines) {
      if (!combiner_.is_on()) return write_out(narrow(), used, turn);
      auto const after = flush_combined(staged_.data(), combiner_.known(), used, turn);
      combiner_.go_on(after.now);
      return after.refused;
    } else {
      return flush_any(used, turn);
    }
  }
  /// Writes what was staged in `used` rounds to places that are the block's already, as many as
  /// there are messages, with any row. False, and nothing is written, if there is none: kernels
  /// that sent while the log was emptied may have taken some. Collective.
  WARDEN_DEVICE bool write(unsigned used, std::uint32_t begin) const {
    if (simt::thread_rank() == 0) row_[0] = log_.take_row();
    std::uint32_t const total = sort(narrow(), used);
    std::uint32_t const row = row_[0];
    write_sorted(row, {begin, total});
    return row < log_.rows;
  }
  /// The same with the row `row`. Nothing is written if there are more messages than `places`.
  /// Returns how many there are.
  WARDEN_DEVICE std::uint32_t write(unsigned used, log_places places, std::uint32_t row) const {
    std::uint32_t const total = sort(narrow(), used);
    write_sorted(total <= places.count ? row : log_type::no_row, {places.begin, total});
    return total;
  }

 private:
  using wide_message = typename Combiner::wide_message;

  struct layout {
    WARDEN_HOST_DEVICE constexpr layout()
        : staged{carver.take<Message>(slots)},
          wide{carver.take<wide_message>(Combiner::partials)},
          counts{carver},
          scanning{carver.take<typename scan::storage>(1)},
          places{carver.take<log_places>(1)},
          row{carver.take<std::uint32_t>(InOrder ? 2 : 1)},
          ranks{carver.take<std::uint16_t>(slots)},
          wide_ranks{carver.take<std::uint16_t>(Combiner::partial_ranks)},
          combining{carver.take<typename Combiner::storage>(combines ? 1 : 0)},
          log{carver.take<log_type>(outlines ? 1 : 0)} {}
    arena_carver carver{};
    arena_piece<Message> staged;
    arena_piece<wide_message> wide;
    typename ranking::pieces counts;
    arena_piece<typename scan::storage> scanning;
    arena_piece<log_places> places;
    arena_piece<std::uint32_t> row;
    arena_piece<std::uint16_t> ranks;
    arena_piece<std::uint16_t> wide_ranks;
    arena_piece<typename Combiner::storage> combining;
    arena_piece<log_type> log;  // a copy, for functions that are not inlined
  };

  static constexpr std::uint16_t no_message = 0xffff;
  /// Partitions for each thread, where there are as many as there may be.
  static constexpr unsigned each = (most_partitions + Threads - 1) / Threads;

  /// Messages of one width, as they are sorted and written.
  template <class Width, unsigned Items>
  struct batch {
    using message = Width;
    static constexpr unsigned items = Items;  ///< slots of a thread
    /// Places that a message takes.
    static constexpr unsigned places = sizeof(Width) / sizeof(Message);
    simt::shared_span<Width> staged;  ///< [slot]
    /// [slot] rank in its partition, or the partition if they are in order; then [place] slot.
    simt::shared_span<std::uint16_t> ranks;
  };
  using narrow_batch = batch<Message, Rounds>;
  WARDEN_DEVICE narrow_batch narrow() const { return {staged_, ranks_}; }
  WARDEN_DEVICE batch<wide_message, 1> wide() const { return {wide_, wide_ranks_}; }

  WARDEN_DEVICE batch_writer(log_type const& log, std::byte* storage, layout const& at,
                             typename Combiner::state now = {})
      : log_{log},
        staged_{at.staged.in(storage)},
        wide_{at.wide.in(storage)},
        counts_{at.counts, storage},
        scan_{at.scanning.in(storage)},
        places_{at.places.in(storage)},
        row_{at.row.in(storage)},
        ranks_{at.ranks.in(storage)},
        wide_ranks_{at.wide_ranks.in(storage)},
        combiner_{made_combiner(storage, at, now)} {}
  WARDEN_DEVICE static Combiner made_combiner(std::byte* storage, layout const& at,
                                              typename Combiner::state now) {
    if constexpr (combines) {
      return Combiner{*at.combining.in(storage).data(),
                      at.staged.in(storage),
                      at.ranks.in(storage),
                      at.wide.in(storage),
                      at.wide_ranks.in(storage),
                      now};
    } else {
      return {};
    }
  }
  /// The storage of a writer's, for functions that are not inlined.
  WARDEN_DEVICE static std::byte* storage_of(Message* staged) {
    static_assert(layout{}.staged.offset == 0);
    return reinterpret_cast<std::byte*>(simt::known_shared(staged));
  }
  /// Writes a batch, combined or not.
  WARDEN_DEVICE std::uint32_t flush_any(unsigned used, std::uint32_t turn) {
    if constexpr (combines) rank_kept(used);
    std::uint32_t refused = write_out(narrow(), used, turn);
    if constexpr (combines) {
      if (combiner_.has_partials()) {
        rank_partials();
        refused += write_out(wide(), 1, turn);
      }
      combiner_.end();
    }
    return refused;
  }

  // Where partials are wider, what combining takes of registers would be taken from the sends of a
  // block that combines nothing, if it were inlined. These know of their writer where its messages
  // lie, and find the rest in shared memory.

  /// What `flush_combined` leaves.
  struct flushed {
    typename Combiner::state now;
    std::uint32_t refused;
  };
  /// What `flush` does with messages that were ranked to be combined.
  WARDEN_COLD static flushed flush_combined(Message* staged, typename Combiner::state now,
                                            unsigned used, std::uint32_t turn) {
    std::byte* const storage = storage_of(staged);
    batch_writer self{layout{}.log.in(storage)[0], storage, layout{}, now};
    std::uint32_t const refused = self.flush_any(used, turn);
    return {self.combiner_.known(), refused};
  }
  /// What `combine` does with a batch that it does not pass.
  WARDEN_COLD static auto look_and_combine(Message* staged, typename Combiner::state now,
                                           unsigned used, std::uint32_t least, bool may_go_on) {
    Combiner combiner = made_combiner(storage_of(staged), layout{}, now);
    unsigned const left = combiner.run(used, least, may_go_on);
    return typename Combiner::outcome{combiner.known(), left};
  }

  /// To a row of the log, and its places; nothing is written if there is none.
  WARDEN_DEVICE void write_sorted(std::uint32_t row, log_places places) const {
    if (row < log_.rows) {
      copy_out(narrow(), 0, places);
      write_row(row, 0, places, 0);
    }
    simt::sync_block();
    make_ready();
  }

  /// For the next batch. Behind a barrier; collective.
  WARDEN_DEVICE void make_ready() const {
    if constexpr (!ranking::clears) {
      clear();
      simt::sync_block();
    }
  }
  WARDEN_DEVICE void clear() const { counts_.clear(log_.partitions.partitions()); }

  WARDEN_DEVICE static unsigned staging_slot(unsigned round) {
    if constexpr (combines) {
      return Combiner::slot_of(round);
    } else {
      return round * Threads + simt::thread_rank();
    }
  }
  /// The slot that this thread ranks as its item `r`. In order a warp has neighbouring slots.
  template <class Batch>
  WARDEN_DEVICE static unsigned slot_of(Batch const&, unsigned r, unsigned used) {
    if constexpr (InOrder) {
      return (simt::warp_rank() * used + r) * simt::warp_size + simt::lane_id();
    } else if constexpr (std::is_same_v<Batch, narrow_batch>) {
      return staging_slot(r);
    } else {
      return r * Threads + simt::thread_rank();
    }
  }
  template <class Batch>
  WARDEN_DEVICE std::uint32_t partition_of(Batch const& b, unsigned slot) const {
    return log_.partitions.partition_of(b.staged[slot].local());
  }
  /// One more message of a partition: its rank among those.
  WARDEN_DEVICE std::uint16_t rank_in(std::uint32_t partition) const {
    return static_cast<std::uint16_t>(counts_.rank(partition));
  }

  /// Ranks by partition what was ranked to be combined. Collective.
  WARDEN_DEVICE void rank_kept(unsigned used) const {
    if (!combiner_.is_on()) return;
    clear();
    combiner_.clear();
    simt::sync_block();  // mutation: log-ranked
    WARDEN_NO_UNROLL
    for (unsigned r = 0; r < used; ++r) {
      unsigned const slot = staging_slot(r);
      if (ranks_[slot] != no_message) ranks_[slot] = rank_in(partition_of(narrow(), slot));
    }
  }
  /// The same of what messages were combined to. Collective.
  WARDEN_DEVICE void rank_partials() const {
    if constexpr (Combiner::two_widths) {
      unsigned const me = simt::thread_rank();
      if (wide_ranks_[me] != no_message) wide_ranks_[me] = rank_in(partition_of(wide(), me));
    }
  }

  /// Turns counts into offsets and ranks into an order. Returns the number of messages. Collective.
  template <class Batch>
  WARDEN_DEVICE std::uint32_t sort(Batch const& b, unsigned used) const {
    constexpr unsigned items = Batch::items;
    unsigned const me = simt::thread_rank();
    std::uint32_t const partitions = log_.partitions.partitions();
    simt::sync_block();
    // Two places share a register: the user's loop has the others. In order each has its rank's.
    constexpr unsigned together = InOrder ? 1 : 2;
    std::uint32_t places[(items + together - 1) / together]{};
    if constexpr (InOrder) {
      // Fewer bits to compare for the usual number of partitions.
      if (partitions <= usual_partitions) {
        rank_in_order<usual_partitions>(b, used, places);
      } else {
        rank_in_order<most_partitions>(b, used, places);
      }
      simt::sync_block();
    }
    std::uint32_t counted[each], sum = 0, total;
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      std::uint32_t const p = me * each + k;
      counted[k] = p < partitions ? counts_.count(p) : 0;
      sum += counted[k];
    }
    std::uint32_t begin = scan::exclusive_sum(scan_[0], sum, total);
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      std::uint32_t const p = me * each + k;
      if (p < partitions) counts_.begin_at(p, begin);
      begin += counted[k];
    }
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned r = 0; r < items; ++r) {
      if constexpr (InOrder) {
        std::uint32_t const partition = r < used ? b.ranks[slot_of(b, r, used)] : no_message;
        bool const is = partition != no_message;
        std::uint32_t const begin = counts_.begin_in_warp(is ? partition : 0);
        places[r] = is ? places[r] + begin : no_message;
      } else {
        unsigned const slot = slot_of(b, r, used);
        std::uint32_t mine = no_message;
        if (r < used) mine = b.ranks[slot];
        if (mine != no_message) mine += counts_.begin_of(partition_of(b, slot));
        places[r / together] |= mine << r % together * 16;
      }
    }
    // The order lies where the ranks were.
    simt::sync_block();  // mutation: order-over-ranks
    WARDEN_UNROLL
    for (unsigned r = 0; r < items; ++r) {
      std::uint32_t const mine =
          together == 1 ? places[r] : places[r / together] >> r % together * 16 & 0xffffu;
      if (mine != no_message) b.ranks[mine] = static_cast<std::uint16_t>(slot_of(b, r, used));
    }
    simt::sync_block();
    return total;
  }

  /// Ranks messages by partition, numbers below `Limit`, in their order. Collective over the warp.
  template <unsigned Limit, class Batch>
  WARDEN_DEVICE void rank_in_order(Batch const& b, unsigned used,
                                   std::uint32_t (&rank)[Batch::items]) const {
    WARDEN_UNROLL
    for (unsigned r = 0; r < Batch::items; ++r) {
      if (r >= used) break;
      std::uint32_t const partition = b.ranks[slot_of(b, r, used)];
      bool const is = partition != no_message;
      rank[r] = counts_.template rank<Limit>(is ? partition : 0, is);
    }
  }

  /// Sorts a batch and writes it to places of the log. Returns how many messages found none.
  /// Collective.
  template <class Batch>
  WARDEN_DEVICE std::uint32_t write_out(Batch const& b, unsigned used, std::uint32_t turn) {
    std::uint32_t const total = sort(b, used);
    std::uint32_t done = 0, tried = 0;
    while (done < total) {
      // A wide one is always a batch.
      bool const is_batch = Batch::places != 1 || total - done >= log_.least_batch;
      if (simt::warp_rank() == 0)
        tried = reserve<Batch::places>(turn, tried, total - done, is_batch);
      simt::sync_block();
      log_places const places = places_[0];
      if (places.count == 0) break;
      // Messages are copied while the row is on its way.
      std::uint32_t row = log_type::no_row;
      if (is_batch && simt::thread_rank() == 0) row = log_.take_row();
      copy_out(b, done, places);
      if (is_batch) {
        if (simt::thread_rank() == 0) row_[0] = row;
        simt::sync_block();  // mutation: row-known
        if (row_[0] >= log_.rows) break;
        write_row(row_[0], done, places, Batch::places == 1 ? 0 : log_type::wide_row);
        if (Batch::places != 1 && simt::thread_rank() == 0)
          simt::fetch_add(&log_.control->wide_rows, 1u);  // mutation: wide-rows
        if constexpr (InOrder) number_row(row_[0]);
      }
      done += places.count;
      simt::sync_block();  // mutation: places-reused
    }
    make_ready();
    return total - done;
  }

  /// Places for up to `count` messages of `Width` places, in the first shard that has any, of
  /// those not `tried`, as a batch or flat ones. Returns how many shards have been tried.
  /// Collective over the first warp.
  template <unsigned Width>
  WARDEN_DEVICE std::uint32_t reserve(std::uint32_t turn, std::uint32_t tried, std::uint32_t count,
                                      bool is_batch) const {
    log_places places{0, 0};
    while (tried <= log_.last_shard && places.count == 0) {
      // The first one is taken for good; behind it the lanes look for one together.
      std::uint32_t const mine = tried + simt::lane_id();
      bool const hopeful =
          tried == 0 ? simt::lane_id() == 0
                     : mine <= log_.last_shard && !log_.looks_full((turn + mine) & log_.last_shard);
      int const found = simt::first_bit(simt::ballot(simt::full_warp, hopeful));
      if (found < 0) {
        tried += simt::warp_size;
        continue;
      }
      tried += static_cast<unsigned>(found) + 1;
      if (simt::lane_id() == 0) {
        std::uint32_t const shard = (turn + tried - 1) & log_.last_shard;
        places = is_batch ? log_.template take<log_type::side::batch, Width>(shard, count)
                          : log_.template take<log_type::side::flat>(shard, count);
      }
      places.count = simt::shuffle(simt::full_warp, places.count, 0);
    }
    if (simt::lane_id() == 0) places_[0] = places;
    return tried;
  }
  /// The messages from `first` on in their order, to these places.
  template <class Batch>
  WARDEN_DEVICE void copy_out(Batch const& b, std::uint32_t first, log_places places) const {
    auto* const to = log_.template at<typename Batch::message>(places.begin);
    for (std::uint32_t i = simt::thread_rank(); i < places.count; i += Threads)
      to[i] = b.staged[b.ranks[first + i]];
  }
  /// Where the segments of these places begin.
  WARDEN_DEVICE void write_row(std::uint32_t row, std::uint32_t first, log_places places,
                               std::uint32_t width) const {
    std::uint32_t const partitions = log_.partitions.partitions();
    for (std::uint32_t p = simt::thread_rank(); p <= partitions; p += Threads) {
      std::uint32_t const offset = p < partitions ? counts_.begin_of(p) : first + places.count;
      std::uint32_t const behind = offset < first ? 0 : offset - first;
      std::uint32_t const within = behind < places.count ? behind : places.count;
      *log_.offset(p, row) = static_cast<std::uint16_t>(within);  // mutation: header
    }
    if (simt::thread_rank() == 0) log_.begins[row] = places.begin | width;  // mutation: row-flag
  }

  /// Notes where in the order the batch comes.
  WARDEN_DEVICE void number_row(std::uint32_t row) {
    if (simt::thread_rank() == 0) {
      if (batches_ == 0) {
        row_[1] = row;
        log_.order.launches[row] = log_.order.launch;
        log_.order.blocks[row] = simt::block_rank();
        log_.order.firsts[simt::fetch_add(&log_.control->blocks, 1u)] = row;
      }
      log_.order.first_of[row] = row_[1];
      log_.order.numbers[row] = batches_;
      log_.order.counts[row_[1]] = batches_ + 1;
    }
    ++batches_;
  }

  log_type const& log_;
  simt::shared_span<Message> staged_;     ///< [slot]
  simt::shared_span<wide_message> wide_;  ///< [slot] partials, where they have a width
  ranking counts_;                        ///< of messages by partition
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<log_places> places_;
  simt::shared_span<std::uint32_t> row_;         ///< of the batch; in order, of the block's first
  simt::shared_span<std::uint16_t> ranks_;       ///< [slot] in its partition, then [place] slot
  simt::shared_span<std::uint16_t> wide_ranks_;  ///< the same of partials
  Combiner combiner_;
  std::uint32_t batches_ = 0;  ///< written so far, in order
};

/// The most rounds, up to `Rounds`, with which a `Writer` of so many fits static shared memory, or
/// `Bytes` if that is more; 1 if none do.
template <template <unsigned> class Writer, unsigned Rounds, std::size_t Bytes = 0>
constexpr unsigned rounds_that_fit() {
  constexpr std::size_t most = Bytes < (std::size_t{48} << 10) ? std::size_t{48} << 10 : Bytes;
  if constexpr (Rounds <= 1 || Writer<Rounds>::shared_bytes() <= most) {
    return Rounds < 1 ? 1 : Rounds;
  } else {
    return rounds_that_fit<Writer, Rounds - 1, Bytes>();
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
