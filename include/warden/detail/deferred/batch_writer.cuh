// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes the messages of a block to a log as batches: stage, sort by partition, reserve places by
/// one atomic, write with a row of offsets.
#pragma once

#include <warden/detail/deferred/batch_reserve.cuh>
#include <warden/detail/deferred/batch_sort.cuh>
#include <warden/detail/deferred/batch_stage.cuh>
#include <warden/detail/deferred/batch_write.cuh>
#include <warden/detail/deferred/client_storage.cuh>
#include <warden/detail/deferred/combines_nothing.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Stages up to `PerThread` messages of each of a block's `Threads` threads. With `InOrder` the
/// messages of a partition stay in the order of k, the number of a thread's message, and then of
/// threads, and batches stay in the order of flushes. `Combiner` is a batch_combiner, or
/// combines_nothing.
template <class Message, unsigned Threads, unsigned PerThread, bool InOrder = false,
          class Combiner = combines_nothing>
class batch_writer {
  using stage_type = batch_stage<Message, Threads, PerThread, InOrder, Combiner>;
  using log_type = typename stage_type::log_type;
  using layout = typename stage_type::layout;
  static constexpr bool combines = stage_type::combines;
  static constexpr bool outlines = stage_type::outlines;
  static constexpr std::uint16_t no_message = stage_type::no_message;

 public:
  /// Largest number of staged messages.
  static constexpr unsigned slots = stage_type::slots;
  /// Largest number of messages of a thread in a batch.
  static constexpr unsigned most_per_thread = stage_type::ranking::most_per_thread;
  static_assert(PerThread <= most_per_thread);

  /// Size of the shared memory, aligned to 16 bytes. Units: bytes.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }

  /// `storage` is the same for the whole block. Precondition: the block uses it for nothing else
  /// while the writer lives. Collective.
  WARDEN_DEVICE batch_writer(log_type const& log, std::byte* storage)
      : batch_writer{log, storage, layout{}} {
    // Other threads of the block may still read former contents of the storage.
    simt::sync_block();  // mutation: storage-barrier
    // A block of another size stages nothing, and would write past the end of the storage here.
    if (simt::block_threads() == Threads) stage_.clear();
    if constexpr (outlines) {
      // All threads read it after the barrier that follows.
      if (simt::thread_rank() == 0) layout{}.log.in(storage)[0] = log;
    }
    simt::sync_block();
  }

  /// Stages this thread's message k, below `PerThread`.
  WARDEN_DEVICE void stage(unsigned k, Message const& m) const {
    stage_at(stage_type::staging_slot(k), m);
  }
  /// Stages a message in a slot. In order, messages have the order of their slots.
  WARDEN_DEVICE void stage_at(unsigned slot, Message const& m) const {
    stage_.staged[slot] = m;
    if constexpr (combines) {
      if (stage_.combiner.is_on()) {
        stage_.ranks[slot] = stage_.combiner.rank(m);
        return;
      }
    }
    std::uint32_t const partition = stage_.log.partitions.partition_of(m.local());
    if constexpr (InOrder) {
      stage_.ranks[slot] = static_cast<std::uint16_t>(partition);  // ranked when all are there
    } else {
      stage_.ranks[slot] = stage_.rank_in(partition);
    }
  }
  /// Notes that this thread has no message k.
  WARDEN_DEVICE void stage_nothing(unsigned k) const {
    stage_nothing_at(stage_type::staging_slot(k));  // mutation: partial-round
  }
  /// Notes that there is no message in this slot.
  WARDEN_DEVICE void stage_nothing_at(unsigned slot) const { stage_.ranks[slot] = no_message; }

  /// Combines the staged `used` messages of each thread, if the sections combine. Returns the
  /// messages of each thread that are then in use, the same in every thread; fewer than `used` only
  /// if the batch `may_go_on`. Collective.
  WARDEN_DEVICE unsigned combine(unsigned used, bool may_go_on) {
    if constexpr (combines) {
      if (stage_.combiner.passes()) return used;
      if constexpr (outlines) {
        auto const after = look_and_combine(stage_.staged.data(), stage_.combiner.known(), used,
                                            stage_.log.least_batch, may_go_on);
        stage_.combiner.go_on(after.now);  // mutation: state-back
        return after.used;
      } else {
        unsigned const left = stage_.combiner.run(used, stage_.log.least_batch, may_go_on);
        count_freed(stage_.log, storage_of(stage_.staged.data()), stage_.combiner.known());
        return left;
      }
    } else {
      return used;
    }
  }
  /// True if a batch with `used` messages of each thread, after `combine`, must be written.
  WARDEN_DEVICE static bool is_full(unsigned used) {
    if constexpr (combines) {
      return Combiner::is_full(used);
    } else {
      return used >= PerThread;
    }
  }

  /// Writes the staged `used` messages of each thread to places of the log. Returns the number of
  /// messages that found no place. Tries shard `turn` first, modulo the number of shards.
  /// Collective.
  WARDEN_DEVICE std::uint32_t flush(unsigned used, std::uint32_t turn) {
    if constexpr (outlines) {
      if (!stage_.combiner.is_on()) return write_out(stage_.narrow_messages(), used, turn);
      auto const after = flush_combined(stage_.staged.data(), stage_.combiner.known(), used, turn);
      stage_.combiner.go_on(after.now);
      return after.refused;
    } else {
      return flush_any(used, turn);
    }
  }
  /// Writes the staged `used` messages of each thread to places that the block already has, one for
  /// each message, with any row. Returns false, and writes nothing, if there is no row: kernels
  /// that sent while the log was emptied may have taken some. Collective.
  WARDEN_DEVICE bool write(unsigned used, std::uint32_t begin) const {
    if (simt::thread_rank() == 0) stage_.row[0] = stage_.log.take_row();
    std::uint32_t const total = sort_batch(stage_, stage_.narrow_messages(), used);
    std::uint32_t const row = stage_.row[0];
    write_sorted(row, {begin, total});
    return row < stage_.log.rows;
  }
  /// Writes the staged `used` messages of each thread to `places`, with the row `row`. Writes
  /// nothing if there are more messages than places. Returns the number of messages. Collective.
  WARDEN_DEVICE std::uint32_t write(unsigned used, log_places places, std::uint32_t row) const {
    std::uint32_t const total = sort_batch(stage_, stage_.narrow_messages(), used);
    write_sorted(total <= places.count ? row : log_type::no_row, {places.begin, total});
    return total;
  }

 private:
  WARDEN_DEVICE batch_writer(log_type const& log, std::byte* storage, layout const& at,
                             typename Combiner::state now = {})
      : stage_{log, storage, at, now} {}
  /// Returns the storage of a writer whose messages begin at `staged`, for functions that are not
  /// inlined.
  WARDEN_DEVICE static std::byte* storage_of(Message* staged) {
    static_assert(layout{}.staged.offset == 0);
    return reinterpret_cast<std::byte*>(simt::known_shared(staged));
  }
  /// Counts the places that the combiner's last `run` has freed.
  WARDEN_DEVICE static void count_freed(log_type const& log, std::byte* storage,
                                        typename Combiner::state now) {
    if (now.combined == 0 || simt::thread_rank() != 0) return;
    simt::add(&log.control->freed, std::uint64_t{layout{}.combining.in(storage)[0].freed});
  }
  /// Writes a batch, combined or not. Returns the number of messages that found no place.
  /// Collective.
  WARDEN_DEVICE std::uint32_t flush_any(unsigned used, std::uint32_t turn) {
    if constexpr (combines) rank_kept(used);
    std::uint32_t refused = write_out(stage_.narrow_messages(), used, turn);
    if constexpr (combines) {
      if (stage_.combiner.has_partials()) {
        rank_partials();
        refused += write_out(stage_.wide_messages(), 1, turn);
      }
      stage_.combiner.end();
    }
    return refused;
  }

  // If partials are wider, combining is not inlined, because its registers would be taken from the
  // sends of blocks that combine nothing. These functions get the address of the writer's messages,
  // and find the rest in shared memory.

  /// Result of `flush_combined`.
  struct flushed {
    typename Combiner::state now;
    std::uint32_t refused;
  };
  /// Flushes messages that are ranked in buckets.
  WARDEN_COLD static flushed flush_combined(Message* staged, typename Combiner::state now,
                                            unsigned used, std::uint32_t turn) {
    std::byte* const storage = storage_of(staged);
    batch_writer self{layout{}.log.in(storage)[0], storage, layout{}, now};
    std::uint32_t const refused = self.flush_any(used, turn);
    return {self.stage_.combiner.known(), refused};
  }
  /// Combines a batch that `combine` does not pass.
  WARDEN_COLD static auto look_and_combine(Message* staged, typename Combiner::state now,
                                           unsigned used, std::uint32_t least, bool may_go_on) {
    Combiner combiner = stage_type::made_combiner(storage_of(staged), layout{}, now);
    unsigned const left = combiner.run(used, least, may_go_on);
    count_freed(layout{}.log.in(storage_of(staged))[0], storage_of(staged), combiner.known());
    return typename Combiner::outcome{combiner.known(), left};
  }

  /// Writes a sorted batch to its places and to a row of the log. Writes nothing if there is no
  /// such row.
  WARDEN_DEVICE void write_sorted(std::uint32_t row, log_places places) const {
    if (row < stage_.log.rows) {
      copy_messages(stage_, stage_.narrow_messages(), 0, places);
      write_row(stage_, row, 0, places, 0);
    }
    simt::sync_block();
    stage_.make_ready();
  }

  /// Ranks by partition the messages that are ranked in buckets. Collective.
  WARDEN_DEVICE void rank_kept(unsigned used) const {
    if (!stage_.combiner.is_on()) return;
    stage_.clear();
    stage_.combiner.clear();
    simt::sync_block();  // mutation: log-ranked
    WARDEN_NO_UNROLL
    for (unsigned r = 0; r < used; ++r) {
      unsigned const slot = stage_type::staging_slot(r);
      if (stage_.ranks[slot] != no_message)
        stage_.ranks[slot] = stage_.rank_in(stage_.partition_of(stage_.narrow_messages(), slot));
    }
  }
  /// Ranks partials by partition. Collective.
  WARDEN_DEVICE void rank_partials() const {
    if constexpr (Combiner::two_widths) {
      unsigned const me = simt::thread_rank();
      if (stage_.wide_ranks[me] != no_message)
        stage_.wide_ranks[me] = stage_.rank_in(stage_.partition_of(stage_.wide_messages(), me));
    }
  }

  /// Sorts a batch and writes it to places of the log. Returns the number of messages that found no
  /// place. Collective.
  template <class Batch>
  WARDEN_DEVICE std::uint32_t write_out(Batch const& b, unsigned used, std::uint32_t turn) {
    std::uint32_t const total = sort_batch(stage_, b, used);
    std::uint32_t done = 0, tried = 0;
    while (done < total) {
      // Wide messages are always a batch.
      bool const is_batch = Batch::places != 1 || total - done >= stage_.log.least_batch;
      if (simt::warp_rank() == 0)
        tried = reserve_places<Batch::places>(stage_, turn, tried, total - done, is_batch);
      simt::sync_block();
      log_places const places = stage_.places[0];
      if (places.count == 0) break;
      // Messages are copied while the atomic for the row is in flight.
      std::uint32_t row = log_type::no_row;
      if (is_batch && simt::thread_rank() == 0) row = stage_.log.take_row();
      copy_messages(stage_, b, done, places);
      if (is_batch) {
        if (simt::thread_rank() == 0) stage_.row[0] = row;
        simt::sync_block();  // mutation: row-known
        if (stage_.row[0] >= stage_.log.rows) break;
        write_row(stage_, stage_.row[0], done, places, Batch::places == 1 ? 0 : log_type::wide_row);
        if (Batch::places != 1 && simt::thread_rank() == 0)
          simt::fetch_add(&stage_.log.control->wide_rows, 1u);  // mutation: wide-rows
        if constexpr (InOrder) number_row(stage_, stage_.row[0]);
      }
      done += places.count;
      simt::sync_block();  // mutation: places-reused
    }
    stage_.make_ready();
    return total - done;
  }

  stage_type stage_;
};

/// Returns the largest number of messages of a thread, up to `PerThread`, with which a `Writer`
/// fits `Bytes`. Returns 1 if none fits.
template <template <unsigned> class Writer, unsigned PerThread, std::size_t Bytes>
constexpr unsigned per_thread_within() {
  if constexpr (PerThread <= 1 || Writer<PerThread>::shared_bytes() <= Bytes) {
    return PerThread < 1 ? 1 : PerThread;
  } else {
    return per_thread_within<Writer, PerThread - 1, Bytes>();
  }
}
/// Returns the same number for static shared memory, or for `Bytes` if that is more.
template <template <unsigned> class Writer, unsigned PerThread, std::size_t Bytes = 0>
constexpr unsigned per_thread_that_fits() {
  return per_thread_within<Writer, PerThread, std::max(static_storage_bytes, Bytes)>();
}

}  // namespace detail
WARDEN_NAMESPACE_END
