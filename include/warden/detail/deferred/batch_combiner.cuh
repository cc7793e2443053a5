// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines the messages of a block's batch whose records repeat.
///
/// A sample of the batch tells whether any record has a large part of it. Only then messages are
/// sorted by record, and each segment becomes one message. No thread waits for a hot record's lock,
/// because all threads share its messages. If half of the slots are free afterwards, the remaining
/// messages move together, and the batch continues.
#pragma once

#include <warden/detail/deferred/batch_slots.cuh>
#include <warden/detail/deferred/combining_state.cuh>
#include <warden/detail/deferred/key_buckets.cuh>
#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/deferred/partial_slots.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Combines in batches of up to `PerThread` messages of each of a block's `Threads` threads, in a
/// log of `Formats`. A warp's slots are adjacent; the messages that it keeps are at their front.
///
/// With one width the sections of a record combine into the last one's message. If partials are
/// wider they have slots of their own. Sections of a record then combine if there are at least as
/// many as the places that a partial takes in the log, so n places suffice for n sections.
template <class Formats, unsigned Threads, unsigned PerThread>
class batch_combiner {
  using batch = batch_slots<Formats, Threads * PerThread>;
  using key_type = typename batch::key_type;
  using carry = typename batch::carry;
  using buckets = key_buckets<key_type, Threads, Threads * PerThread>;

 public:
  /// True if partials have slots of their own.
  static constexpr bool two_widths = Formats::two_widths;
  /// Message of a batch.
  using message_type = typename Formats::message_type;
  /// Message of a partial.
  using wide_message = typename Formats::wide_format::message_type;
  /// Places of the log that a partial takes.
  static constexpr unsigned places = Formats::places;
  /// Slots of a batch.
  static constexpr unsigned slots = Threads * PerThread;
  /// Slots of partials. Their numbers follow those of the other slots.
  static constexpr unsigned partials = two_widths ? Threads / 2 : 0;
  /// Ranks of partials: one for each thread; threads without a slot have none.
  static constexpr unsigned partial_ranks = two_widths ? Threads : 0;
  static_assert(slots + partials < 0x8000, "warden: a batch has less than 32,768 messages");

  /// Rank of a slot without a message.
  static constexpr std::uint16_t no_message = 0xffff;

  /// Shared memory of a block.
  struct storage {
    std::uint32_t counts[buckets::words];    ///< counts of buckets, or of the buckets of a sample
    std::uint16_t sorted[slots + partials];  ///< [place] slot
    carry carries[Threads / 32];             ///< [warp] sum of its last segment so far
    typename buckets::scanning scanning;     ///< for the scan of buckets
    std::uint32_t freed;  ///< places that combining has freed; in a sample, repeated messages
    std::uint32_t made[partial_slots<partials, slots>::sizes];  ///< see partial_slots
    std::uint32_t kept[2][Threads / 32];  ///< [turn][warp] slots in use, from the front
  };

  /// State that a block keeps from one batch to the next.
  using state = combining_state;
  /// Result of `run`.
  struct outcome {
    state now;      ///< state of the block
    unsigned used;  ///< messages of each thread in use
  };

  /// Combines in the slots and ranks of a writer, and of its wide messages. `shared` is the
  /// block's.
  WARDEN_DEVICE batch_combiner(storage& shared, simt::shared_span<message_type> staged,
                               simt::shared_span<std::uint16_t> ranks,
                               simt::shared_span<wide_message> wide,
                               simt::shared_span<std::uint16_t> wide_ranks, state now)
      : shared_{&shared, 1},
        buckets_{shared.counts, shared.scanning},
        partials_{shared.made},
        sorted_{shared.sorted, slots + partials},
        batch_{staged, wide},
        ranks_{ranks},
        wide_ranks_{wide_ranks},
        now_{now} {}

  /// Returns this thread's slot of its message k.
  WARDEN_DEVICE static unsigned slot_of(unsigned k) {
    return (simt::warp_rank() * PerThread + k) * simt::warp_size + simt::lane_id();
  }
  /// True if messages are staged with `rank`, their rank in a bucket.
  WARDEN_DEVICE bool is_on() const { return now_.on != 0; }
  /// Counts one more message of a bucket. Returns its rank there. Precondition: `is_on`.
  WARDEN_DEVICE std::uint16_t rank(message_type const& m) const {
    return buckets_.rank(batch::key_of(m));
  }
  /// True if the batch may have partials, those with a rank; the same for the whole block.
  WARDEN_DEVICE bool has_partials() const { return two_widths && now_.combined != 0; }

  /// True if the batch is left as it is, without a sample.
  WARDEN_DEVICE bool passes() { return now_.passes(); }
  /// Returns the state of the block.
  WARDEN_DEVICE state known() const { return now_; }
  /// Continues with the state that another combiner of the same batch has left.
  WARDEN_DEVICE void go_on(state now) { now_ = now; }

  /// Combines the first `used` messages of each thread, if enough of them repeat. Precondition:
  /// `passes` returned false. With two widths only flushes of at least `least` sections combine. If
  /// the batch `may_go_on` and half of it became free, moves the remaining messages to the front.
  /// Returns the messages of each thread that are then in use, the same in every thread.
  /// Collective; a barrier follows before any thread flushes.
  WARDEN_DEVICE unsigned run(unsigned used, std::uint32_t least, bool may_go_on) {
    if (now_.on == 0) {
      bool const is_flushed_early = !may_go_on && now_.doubled == 0;
      if (!is_crowded(used, is_flushed_early ? crowd_of_first(used) : crowd)) {
        now_.look_later();
        return used;
      }
      start(used);
      now_.on = 1;
    }
    simt::sync_block();
    auto const all = buckets_.place();
    if (simt::thread_rank() == 0) shared_[0].freed = 0;
    bool const is_hot = simt::sync_block_or(all.most >= hot);
    bool const first = now_.combined == 0;
    if (two_widths && first && all.messages < least) {
      now_.pays = used < PerThread ? 1 : 0;
      simt::sync_block();
      return used;
    }
    now_.combined = 1;
    place_slots(used);
    simt::sync_block();  // mutation: sorted-whole
    combine(all.repeated);
    simt::sync_block();
    std::uint32_t const freed = simt::shared_load(shared_[0].freed);
    // Sorting a batch takes as long as running half of it. If it frees less than that, it pays only
    // if a hot record would delay its partition.
    if (first && used == PerThread && freed < (is_hot ? slots / 8 : slots / 2)) now_.pays = 0;
    if (!may_go_on || all.messages - freed > slots / 2 || !has_room()) return used;
    return move_together(used);
  }
  /// True if a batch with `used` messages of each thread, after `run`, must be written.
  WARDEN_DEVICE static bool is_full(unsigned used) { return used > PerThread - spare; }
  /// Prepares for an empty batch; the slots may still be read. Barriers follow. Collective.
  WARDEN_DEVICE void clear() const { buckets_.clear(); }
  /// Ends the batch, which has been written.
  WARDEN_DEVICE void end() {
    if (now_.combined != 0) forget_partials();
    now_.end();
  }

 private:
  /// Messages of one record in a sample at which combining begins. Of 1,024 equally hot records
  /// hardly any has as many, and none if partials are wider: runs then look for them in all rows.
  static constexpr std::uint32_t crowd =
      (Threads >= 512 ? Threads / 64 : 4) * (two_widths ? 3 : 2) / 2;
  /// Least number of free messages for each thread if a batch continues.
  static constexpr unsigned spare = 1 + PerThread / 4;
  /// Messages of a bucket at which its record is hot: the average of one of 128 partitions.
  static constexpr std::uint32_t hot = slots / 128 < crowd ? crowd : slots / 128;
  /// Sorted messages of a thread.
  static constexpr unsigned each = (slots + partials + Threads - 1) / Threads;
  /// Repeated messages in a sample of two messages of each thread at which combining begins: the
  /// number from which half of a batch can be expected to become free. With 512 threads there are 4
  /// times as many buckets as sampled messages, so 1/8 of the sample repeats by chance.
  static constexpr std::uint32_t enough = 2 * Threads * (two_widths ? 11 : 6) / 20;
  /// Sections of one record that take a run as long as it takes a block to combine a small batch.
  static constexpr std::uint32_t pays_from = 256;
  /// Largest number of messages of one record to ask a sample for, because a bucket counts to 255.
  static constexpr std::uint32_t most_asked = 192;
  /// Returns the messages of one record in a sample at which a block combines its first batch of
  /// `used` messages of each thread, if it flushes the batch before it is full. Each other block is
  /// assumed to send as many.
  WARDEN_DEVICE static std::uint32_t crowd_of_first(unsigned used) {
    std::uint32_t const least = pays_from / simt::block_count() / (used < 2 ? 1 : used / 2);
    return least < crowd ? crowd : least < most_asked ? least : most_asked;
  }
  /// True if a record has `least` messages of a sample. If `least` is `crowd`, also true if there
  /// are so few records that they repeat. Samples two messages of each thread. Collective.
  WARDEN_DEVICE bool is_crowded(unsigned used, std::uint32_t least) const {
    buckets_.clear_sample();
    if (simt::thread_rank() == 0) shared_[0].freed = 0;
    simt::sync_block();
    bool crowded = false;
    unsigned repeated = 0;
    WARDEN_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      unsigned const r = i == 0 ? 0 : used / 2;
      if (r >= used || (i == 1 && r == 0)) continue;
      unsigned const slot = slot_of(r);
      if (ranks_[slot] == no_message) continue;
      std::uint32_t const before = buckets_.sample(batch::key_of(batch_[slot]));
      crowded = before + 1 >= least || crowded;
      if (before != 0) ++repeated;
    }
    repeated = simt::warp_sum(repeated);
    if (simt::lane_id() == 0) simt::shared_fetch_add(shared_[0].freed, repeated);
    crowded = simt::sync_block_or(crowded);
    return crowded || (least == crowd && simt::shared_load(shared_[0].freed) >= enough);
  }
  /// Ranks the messages that were staged without buckets. Collective.
  WARDEN_DEVICE void start(unsigned used) const {
    clear();
    forget_partials();
    simt::sync_block();
    WARDEN_NO_UNROLL
    for (unsigned r = 0; r < used; ++r) {
      unsigned const slot = slot_of(r);
      if (ranks_[slot] != no_message) ranks_[slot] = rank(batch_[slot]);
    }
  }

  WARDEN_DEVICE void forget_partials() const {
    if constexpr (two_widths) {
      wide_ranks_[simt::thread_rank()] = no_message;
      partials_.clear();
    }
  }

  /// Writes a slot to its sorted place. Returns false if the message is alone in its bucket, and
  /// has no place.
  WARDEN_DEVICE bool place(unsigned slot, key_type key, std::uint16_t rank) const {
    std::uint32_t const begin = buckets_.begin_of(key);
    if (begin == buckets::alone) return false;
    sorted_[begin + rank] = static_cast<std::uint16_t>(slot);
    return true;
  }
  /// Places all messages. A message with a place loses its rank; its segment may restore it.
  WARDEN_DEVICE void place_slots(unsigned used) const {
    WARDEN_NO_UNROLL
    for (unsigned r = 0; r < used; ++r) {
      unsigned const slot = slot_of(r);
      std::uint16_t const rank = ranks_[slot];
      if (rank != no_message && place(slot, batch::key_of(batch_[slot]), rank))
        ranks_[slot] = no_message;  // mutation: log-absorbed
    }
    if constexpr (two_widths) {
      unsigned const me = simt::thread_rank();
      std::uint16_t const rank = wide_ranks_[me];
      if (rank != no_message && place(slots + me, batch::key_of_wide(batch_.wide(me)), rank))
        wide_ranks_[me] = no_message;
    }
  }

  /// Combines each segment of sorted messages into one, and clears the buckets. Collective.
  WARDEN_DEVICE void combine(std::uint32_t count) const {
    std::uint32_t const begin = simt::thread_rank() * each;
    std::uint32_t const left = begin < count ? count - begin : 0;
    std::uint32_t const end = begin + (left < each ? left : each);
    // Segments that begin and end among this thread's messages are finished at once. The thread's
    // first segment may have begun before, and its last one may go on.
    bool const has_any = begin != end;
    bool goes_on = false, ends = false;
    if (has_any) {
      goes_on = begin != 0 && batch_.key_at(sorted_[begin - 1]) == batch_.key_at(sorted_[begin]);
      ends = end == count || batch_.key_at(sorted_[end]) != batch_.key_at(sorted_[end - 1]);
    }
    clear();
    simt::sync_block();  // the adjacent messages and the buckets have been read
    std::uint32_t first_end = begin, freed = 0;
    carry last;
    key_type key{};
    WARDEN_NO_UNROLL
    for (std::uint32_t p = begin; p < end; ++p) {
      unsigned const slot = sorted_[p];
      if (two_widths && slot >= slots) freed += places;  // a segment may have several partials
      key_type const next = batch_.key_at(slot);
      if (p != begin && next == key) {
        last.add(batch_.carry_at(slot));  // mutation: run-sum
        continue;
      }
      if (p != begin) {
        if (first_end == begin && goes_on) {
          first_end = p;
        } else {
          freed += finish(key, p, last);
        }
      }
      key = next;
      last = batch_.carry_at(slot);
    }
    // True if the thread's last segment begins among its own messages.
    bool const begins = !goes_on || first_end != begin;
    carry const before = carry::template before<Threads>(shared_[0].carries, last, begins);
    if (goes_on && first_end != begin) {
      // Adds up the first segment again, because its sum was not kept.
      carry all = before;
      WARDEN_NO_UNROLL
      for (std::uint32_t p = begin; p < first_end; ++p)
        all.add(batch_.carry_at(sorted_[p]));  // mutation: run-again
      freed += finish(batch_.key_at(sorted_[begin]), first_end, all);
    }
    if (has_any && ends) {
      if (!begins) last.prepend(before);  // mutation: run-across
      freed += finish(key, end, last);
    }
    freed = simt::warp_sum(freed);
    if (simt::lane_id() == 0 && freed != 0) simt::shared_fetch_add(shared_[0].freed, freed);
  }
  /// Combines a segment, which ends before place `end`, or leaves it as it is. Returns the number
  /// of places that became free, without those of its partials, modulo 2^32.
  WARDEN_DEVICE std::uint32_t finish(key_type key, std::uint32_t end, carry const& all) const {
    if constexpr (two_widths) {
      unsigned wide = all.wide();
      if (wide == 0 && all.count() >= places) wide = partials_.take(all.count());
      bool stays = wide == 0;
      if (!stays) {
        batch_.put_wide(wide - 1, key, all.sum());
        wide_ranks_[wide - 1] = 0;  // mutation: partial-lost
      }
      if (!stays) return all.count() - places;  // mutation: sample-sent-too
      for (unsigned i = 1; i <= all.count(); ++i) ranks_[sorted_[end - i]] = 0;
      return 0;
    } else {
      unsigned const slot = sorted_[end - 1];
      ranks_[slot] = 0;
      if (all.count() > 1) batch_.put(slot, key, all.sum());
      return all.count() - 1;
    }
  }
  /// True if there are slots for later partials.
  WARDEN_DEVICE bool has_room() const {
    if constexpr (two_widths) {
      return partials_.has_room();
    } else {
      return true;
    }
  }

  /// Moves the remaining messages to the front of each warp's slots, and ranks them again. Returns
  /// the messages of each thread that are then in use. Collective.
  WARDEN_DEVICE unsigned move_together(unsigned used) {
    unsigned kept = 0;
    WARDEN_NO_UNROLL
    for (unsigned r = 0; r < used; ++r) {
      unsigned const slot = slot_of(r);
      bool const is_message = ranks_[slot] != no_message;
      unsigned const remaining = simt::ballot(simt::full_warp, is_message);
      if (remaining == 0) continue;
      message_type const m = batch_[slot];
      // All lanes have read: kept messages may overwrite these slots.
      simt::sync_warp(simt::full_warp);
      if (is_message) {
        unsigned const below = remaining & ((1u << simt::lane_id()) - 1);
        unsigned const to =
            slot_of(0) - simt::lane_id() + kept + static_cast<unsigned>(simt::count_bits(below));
        batch_[to] = m;
        ranks_[to] = rank(m);
      }
      kept += static_cast<unsigned>(simt::count_bits(remaining));  // mutation: survivors
      simt::sync_warp(simt::full_warp);
    }
    if constexpr (two_widths) {
      unsigned const me = simt::thread_rank();
      if (wide_ranks_[me] != no_message)
        wide_ranks_[me] = buckets_.rank(batch::key_of_wide(batch_.wide(me)));
    }
    now_.turn = now_.turn ^ 1u;
    if (simt::lane_id() == 0) shared_[0].kept[now_.turn][simt::warp_rank()] = kept;
    simt::sync_block();
    // Two turns: a thread that writes the next turn's counts may be ahead of one that reads this
    // turn's, by one barrier.
    std::uint32_t most = 0;
    WARDEN_UNROLL
    for (unsigned w = 0; w < Threads / simt::warp_size; ++w) {
      std::uint32_t const in_use = shared_[0].kept[now_.turn][w];
      most = most < in_use ? in_use : most;
    }
    unsigned const per_thread = most == 0 ? 1 : (most + simt::warp_size - 1) / simt::warp_size;
    for (unsigned r = kept / simt::warp_size; r < per_thread; ++r) {
      if (r * simt::warp_size + simt::lane_id() >= kept) ranks_[slot_of(r)] = no_message;
    }
    return per_thread;
  }

  simt::shared_span<storage> shared_;
  buckets buckets_;
  partial_slots<partials, slots> partials_;
  simt::shared_span<std::uint16_t> sorted_;
  batch batch_;
  simt::shared_span<std::uint16_t> ranks_;
  simt::shared_span<std::uint16_t> wide_ranks_;
  state now_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
