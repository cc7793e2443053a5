// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shared memory where the threads of a block stage the messages of a batch.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/arrival_ranks.cuh>
#include <warden/detail/block/byte_ranks.cuh>
#include <warden/detail/deferred/combines_nothing.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Largest number of partitions of a log.
inline constexpr unsigned most_partitions = 512;
/// Least number of elements of a block with a table of hot records, in smallest batches. The batch
/// of the table has a row, so a log has one more row for that many batches.
inline constexpr unsigned batches_per_table = 32;

/// Staged messages of one width: `Items` slots of each thread. A message takes `Places` places of
/// the log; partials may take several.
template <class Message, unsigned Items, unsigned Places>
struct staged_batch {
  using message = Message;                    ///< message in a slot
  static constexpr unsigned items = Items;    ///< slots of a thread
  static constexpr unsigned places = Places;  ///< places of the log for one message

  simt::shared_span<Message> messages;  ///< [slot]
  /// [slot] rank among the messages of the partition, or the partition if messages stay in order.
  /// After the sort: [position] slot.
  simt::shared_span<std::uint16_t> ranks;
};

/// Slots for up to `PerThread` messages of each of a block's `Threads` threads, and the state of
/// the block's batch. With `InOrder` the messages of a partition stay in the order of k, the number
/// of a thread's message, and then of threads. `Combiner` is a batch_combiner, or combines_nothing.
/// The phases of a flush are functions of this struct: see batch_sort.cuh, batch_reserve.cuh and
/// batch_write.cuh.
template <class Message, unsigned Threads, unsigned PerThread, bool InOrder, class Combiner>
struct batch_stage {
  static constexpr unsigned threads = Threads;  ///< threads of a block
  static constexpr bool in_order = InOrder;     ///< messages of a partition keep their order
  static constexpr bool combines = !std::is_same_v<Combiner, combines_nothing>;
  /// True if combining is in functions that are not inlined.
  static constexpr bool outlines = Combiner::two_widths;
  /// Largest number of staged messages.
  static constexpr unsigned slots = Threads * PerThread;
  static_assert(slots < 0xffff, "warden: a batch has less than 65,535 messages");
  /// Rank of a slot without a message.
  static constexpr std::uint16_t no_message = 0xffff;

  using log_type = section_log<Message>;
  using scan = simt::block_scan_by_warps<Threads>;
  /// Finds the order of messages by partition.
  using ranking = std::conditional_t<InOrder, byte_ranks<Threads, most_partitions>,
                                     arrival_ranks<Threads, most_partitions>>;
  using wide_message = typename Combiner::wide_message;
  using narrow_batch = staged_batch<Message, PerThread, 1>;
  using wide_batch = staged_batch<wide_message, 1, sizeof(wide_message) / sizeof(Message)>;

  /// Shared memory of a block.
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

  /// Constructs the stage in `storage`, for the log `to`. `now` is the block's state from before.
  WARDEN_DEVICE batch_stage(log_type const& to, std::byte* storage, layout const& at,
                            typename Combiner::state now = {})
      : log{to},
        staged{at.staged.in(storage)},
        wide{at.wide.in(storage)},
        counts{at.counts, storage},
        scanning{at.scanning.in(storage)},
        places{at.places.in(storage)},
        row{at.row.in(storage)},
        ranks{at.ranks.in(storage)},
        wide_ranks{at.wide_ranks.in(storage)},
        combiner{made_combiner(storage, at, now)} {}
  /// Returns the combiner in `storage`.
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

  WARDEN_DEVICE narrow_batch narrow_messages() const { return {staged, ranks}; }
  WARDEN_DEVICE wide_batch wide_messages() const { return {wide, wide_ranks}; }

  /// Returns the slot of this thread's message k.
  WARDEN_DEVICE static unsigned staging_slot(unsigned k) {
    if constexpr (combines) {
      return Combiner::slot_of(k);
    } else {
      return k * Threads + simt::thread_rank();
    }
  }
  /// Clears all counts. Collective; a barrier lies before the next rank.
  WARDEN_DEVICE void clear() const { counts.clear(log.partitions.partitions()); }
  /// Prepares for the next batch, after a barrier. Collective.
  WARDEN_DEVICE void make_ready() const {
    if constexpr (!ranking::clears) {
      clear();
      simt::sync_block();
    }
  }
  /// Returns the partition of the message in a slot.
  template <class Batch>
  WARDEN_DEVICE std::uint32_t partition_of(Batch const& b, unsigned slot) const {
    return log.partitions.partition_of(b.messages[slot].local());
  }
  /// Counts one more message of a partition. Returns its rank among them.
  WARDEN_DEVICE std::uint16_t rank_in(std::uint32_t partition) const {
    return static_cast<std::uint16_t>(counts.rank(partition));
  }

  log_type const& log;
  simt::shared_span<Message> staged;     ///< [slot]
  simt::shared_span<wide_message> wide;  ///< [slot] partials, if these have a width of their own
  ranking counts;                        ///< counts messages by partition
  simt::shared_span<typename scan::storage> scanning;
  simt::shared_span<log_places> places;         ///< reserved for the batch
  simt::shared_span<std::uint32_t> row;         ///< row of the batch; in order, also the first row
  simt::shared_span<std::uint16_t> ranks;       ///< see staged_batch
  simt::shared_span<std::uint16_t> wide_ranks;  ///< see staged_batch
  Combiner combiner;
  std::uint32_t batches = 0;  ///< batches written so far, if they are in order
};

}  // namespace detail
WARDEN_NAMESPACE_END
