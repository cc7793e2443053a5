// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sorted outbox: a client block's staging of messages in shared memory, and how a batch leaves
/// it.
///
/// Threads stage messages without synchronization. A flush combines messages for one record if the
/// policy says so, sorts the batch by destination (counting sort), reserves each destination's
/// slots with one atomic add, and copies the sorted batch out. Adjacent threads copy to adjacent
/// slots. [Wang 2020, section 4.3.2]
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/message_combiner.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/simt/collective.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Staging of one client block for one guarded array.
template <class Ref>
class sorted_outbox {
 public:
  /// Policy of the guarded array.
  using policy = typename Ref::policy;
  /// Message with room for the largest section.
  using message_type = typename Ref::client_message;
  /// Threads of the block.
  static constexpr unsigned threads = policy::block_threads;
  /// Messages that each thread stages by `send` before a flush.
  static constexpr unsigned per_thread =
      std::max<unsigned>(1, policy::outbox_bytes_per_thread / sizeof(message_type));
  static_assert(Ref::channel::in_band,
                "warden: sender::sorted needs readiness::sequence_tags; for readiness::bitmask use "
                "sender::buffered");
  static_assert(per_thread <= 31, "warden: outbox_bytes_per_thread holds at most 31 messages");
  /// Slots of the staging, including one more for each thread, for `append`.
  static constexpr unsigned slots = (per_thread + 1) * threads;
  /// Messages of a batch.
  static constexpr unsigned batch = per_thread * threads;
  /// False: all messages leave together, by `flush`.
  static constexpr bool sends_full_buffers = false;
  /// Destination of an empty place: no server.
  static constexpr unsigned nowhere = 0xffff;
  /// Number of no slot.
  static constexpr unsigned none = 0xffff;

  /// Bytes of shared memory for `servers` destinations.
  static constexpr std::size_t shared_bytes(std::size_t servers) {
    return layout{servers}.carver.bytes();
  }

  /// Constructs an outbox. `storage` is shared memory of `shared_bytes(servers)` bytes, the same
  /// for the whole block.
  WARDEN_DEVICE sorted_outbox(Ref const& ref, std::byte* storage)
      : sorted_outbox{ref, storage, layout{ref.owners.servers()}} {}

  /// Initializes the storage once for each block of a launch, before any client uses it. Collective
  /// over the block.
  WARDEN_DEVICE void start() const {
    for (unsigned d = simt::thread_rank(); d < servers(); d += threads) counts_[d] = 0;
    if (simt::thread_rank() == 0) small_[0].appended = 0;
    simt::sync_block();
  }

  /// Discards appended messages that a virtual block never flushed. Called by one thread, between
  /// barriers.
  WARDEN_DEVICE void discard() const { small_[0].appended = 0; }
  /// Counts `messages` of this thread that were staged and will never be flushed. Removes its
  /// appended messages, because a later client would flush those.
  WARDEN_DEVICE void lose(unsigned messages) const {
    for (unsigned slot = last_appended_; slot != none; slot = order_[slot])
      targets_[slot] = static_cast<std::uint16_t>(nowhere);
    simt::fetch_add(&ref_.report->unflushed, std::uint64_t{messages});
  }

  /// Stages this thread's message number `k`. Precondition: `k` < `per_thread`.
  WARDEN_DEVICE void stage(unsigned k, unsigned server, message_type const& m) const {
    put(k * threads + simt::thread_rank(), server, m);
  }
  /// Notes that this thread has no message number `k`.
  WARDEN_DEVICE void stage_nothing(unsigned k) const {
    targets_[k * threads + simt::thread_rank()] = nowhere;
  }
  /// Stages one message. Not collective. Returns false if the room for appended messages is full.
  WARDEN_DEVICE bool append(unsigned server, message_type const& m) {
    unsigned const place = simt::shared_fetch_add(small_[0].appended, 1u);
    if (place >= threads) return false;
    unsigned const slot = per_thread * threads + place;
    put(slot, server, m);
    // `order_` is unused between flushes: there each thread's appended messages form a list.
    order_[slot] = static_cast<std::uint16_t>(last_appended_);
    last_appended_ = slot;
    return true;
  }

  /// Sends the first `used` staged messages of each thread, and the appended ones. Collective.
  /// Returns false if the launch is poisoned.
  WARDEN_DEVICE bool flush(unsigned used) {
    last_appended_ = none;
    simt::sync_block();  // everything staged is visible to the block
    if constexpr (policy::combine_in_fused) combine(used);
    std::uint32_t const total = sort_by_destination(used);
    bool const sent = copy_out(total);
    for (unsigned d = simt::thread_rank(); d < servers(); d += threads) counts_[d] = 0;
    if (simt::thread_rank() == 0) small_[0].appended = 0;
    simt::sync_block();  // mutation: flush-end
    return sent;
  }

 private:
  struct small {
    typename simt::block_scan<threads>::storage scan;
    std::uint32_t appended;
  };

  using combiner = message_combiner<typename Ref::section, threads, per_thread + 1>;
  /// Size of `order_`. Combining ends before the order is computed, and uses the same memory.
  WARDEN_HOST_DEVICE static constexpr std::size_t order_size() {
    if constexpr (policy::combine_in_fused) {
      constexpr std::size_t combining = sizeof(typename combiner::storage) / sizeof(std::uint16_t);
      return combining > slots ? combining : slots;
    } else {
      return slots;
    }
  }

  /// Shared memory. Each property of the destinations has an array of its own, so that threads that
  /// look up different destinations access different banks.
  struct layout {
    std::size_t servers;
    arena_carver carver{};
    arena_piece<message_type> staged = carver.take<message_type>(slots);
    arena_piece<std::uint64_t> bases = carver.take<std::uint64_t>(servers);
    arena_piece<std::uint64_t> released = carver.take<std::uint64_t>(servers);
    arena_piece<std::uint32_t> counts = carver.take<std::uint32_t>(servers);
    arena_piece<std::uint32_t> offsets = carver.take<std::uint32_t>(servers);
    arena_piece<std::uint32_t> ends = carver.take<std::uint32_t>(servers);
    arena_piece<std::uint16_t> targets = carver.take<std::uint16_t>(slots);
    arena_piece<std::uint16_t> order = carver.take<std::uint16_t>(order_size(), 16);
    arena_piece<small> rest = carver.take<small>(1, 16);
  };

  WARDEN_DEVICE sorted_outbox(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref},
        staged_{at.staged.in(storage)},
        bases_{at.bases.in(storage)},
        released_{at.released.in(storage)},
        counts_{at.counts.in(storage)},
        offsets_{at.offsets.in(storage)},
        ends_{at.ends.in(storage)},
        targets_{at.targets.in(storage)},
        order_{at.order.in(storage)},
        small_{at.rest.in(storage)} {}

  WARDEN_DEVICE unsigned servers() const { return ref_.owners.servers(); }

  WARDEN_DEVICE void put(unsigned slot, unsigned server, message_type const& m) const {
    staged_[slot] = m;
    targets_[slot] = static_cast<std::uint16_t>(server);
  }

  /// Returns the number of appended messages; the same for the whole block.
  WARDEN_DEVICE unsigned appended() const {
    unsigned const asked = simt::shared_load(small_[0].appended);
    return asked < threads ? asked : threads;
  }

  /// Returns the destination of this thread's message number `r`, or `nowhere` without a message.
  WARDEN_DEVICE unsigned target_of(unsigned r, unsigned used, unsigned appended) const {
    unsigned const me = simt::thread_rank();
    bool const filled = r < used || (r == per_thread && me < appended);
    return filled ? targets_[r * threads + me] : nowhere;
  }

  /// Accessors of the slots for combining. See block_combine.
  struct slots_of_records {
    static constexpr bool store = true;
    sorted_outbox const& staging;

    WARDEN_DEVICE combining_key<typename Ref::section> key(std::uint32_t slot) const {
      return combining_key_of(
          staging.ref_.owners.id({staging.targets_[slot], staging.staged_[slot].local()}),
          section_at(slot));
    }
    WARDEN_DEVICE typename Ref::section section_at(std::uint32_t slot) const {
      return Ref::format::template unpack<typename Ref::section>(staging.staged_[slot]);
    }
    WARDEN_DEVICE void absorbed(std::uint32_t slot) const {
      staging.targets_[slot] = static_cast<std::uint16_t>(nowhere);  // mutation: batch-absorbed
    }
    WARDEN_DEVICE void combined(combining_key<typename Ref::section>, std::uint32_t slot,
                                typename Ref::section const& s) const {
      staging.staged_[slot] = Ref::client_format::pack(staging.staged_[slot].local(), s);
    }
  };

  /// Combines the messages, so that one is left for each record. Collective.
  WARDEN_DEVICE void combine(unsigned used) const {
    unsigned const appended = this->appended();
    // Few appended messages are sent faster than combined.
    if (used == 0 && appended <= simt::warp_size) return;
    unsigned filled = 0;
    WARDEN_UNROLL
    for (unsigned r = 0; r <= per_thread; ++r)
      filled |= (target_of(r, used, appended) != nowhere ? 1u : 0u) << r;
    combiner::run(*reinterpret_cast<typename combiner::storage*>(order_.data()),
                  slots_of_records{*this}, static_cast<std::uint32_t>(ref_.size), filled);
  }

  /// Sorts the slots by destination (counting sort) and reserves the indices. Returns the number of
  /// messages.
  WARDEN_DEVICE std::uint32_t sort_by_destination(unsigned used) const {
    unsigned const me = simt::thread_rank();
    unsigned const appended = this->appended();
    // Rank each message among those of its destination.
    std::uint32_t to[per_thread + 1];  // destination in the lower half, rank in the upper half
    WARDEN_UNROLL
    for (unsigned r = 0; r <= per_thread; ++r) to[r] = target_of(r, used, appended);
    WARDEN_UNROLL
    for (unsigned r = 0; r <= per_thread; ++r) {
      if (to[r] != nowhere) to[r] |= simt::shared_fetch_add(counts_[to[r]], 1u) << 16;
    }
    simt::sync_block();
    // Reserve at each destination, and compute the place of its first message.
    std::uint32_t total = 0, count = 0, offset = 0;
    std::uint64_t reserved = 0, released = 0;
    unsigned d = me;
    while (true) {
      count = d < servers() ? counts_[d] : 0;
      if (count != 0) {
        reserved = ref_.channel_of(d).reserve(count);
        released = ref_.channel_of(d).released();
      }
      std::uint32_t sum;
      offset = total + simt::block_scan<threads>::exclusive_sum(small_[0].scan, count, sum);
      if (count != 0) offsets_[d] = offset;
      total += sum;
      if (d - me + threads >= servers()) break;
      if (count != 0) open(d, reserved, released, offset, count);
      d += threads;
      // The scan's storage is used again.
      simt::sync_block();  // mutation: scan-again
    }
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned r = 0; r <= per_thread; ++r) {
      if (to[r] != nowhere)
        order_[offsets_[to[r] & 0xffffu] + (to[r] >> 16)] =
            static_cast<std::uint16_t>(r * threads + me);
    }
    // Last, so that the work above hides the latency of the reservation.
    if (count != 0) open(d, reserved, released, offset, count);
    simt::sync_block();
    return total;
  }

  /// Assigns to destination `d` the `count` messages from place `offset` on, at the indices from
  /// `first` on.
  WARDEN_DEVICE void open(unsigned d, std::uint64_t first, std::uint64_t released,
                          std::uint32_t offset, std::uint32_t count) const {
    bases_[d] = first - offset;
    set_credit(d, released, offset, count);
    ref_.count_batch(count);
  }
  /// Computes how many of these messages may be published.
  WARDEN_DEVICE void set_credit(unsigned d, std::uint64_t released, std::uint32_t offset,
                                std::uint32_t count) const {
    released_[d] = released;
    ends_[d] = offset + ref_.channel_of(d).credit(bases_[d] + offset, count, released);
  }

  /// Publishes the sorted batch. A destination without credit does not delay the others: every
  /// message with credit is published before any thread waits. So two blocks can never each hold
  /// the slot that the other block's destination must see next.
  WARDEN_DEVICE bool copy_out(std::uint32_t total) const {
    // All writes of the block's threads before they staged their messages come before the barriers
    // above. This fence, by the publishing thread, makes them visible with the message.
    if constexpr (Ref::fences) simt::fence_device();  // mutation: release-fence
    unsigned const me = simt::thread_rank();
    std::uint32_t pending = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k <= per_thread; ++k) pending |= (k * threads + me < total ? 1u : 0u) << k;
    while (true) {
      WARDEN_UNROLL
      for (unsigned first = 0; first <= per_thread; first += at_once) {
        // All data of several messages are loaded before the first is stored.
        message_type m[at_once];
        std::uint64_t base[at_once] = {};
        std::uint32_t end[at_once] = {};
        unsigned target[at_once] = {};
        WARDEN_UNROLL
        for (unsigned j = 0; j < at_once; ++j) {
          if (first + j > per_thread || (pending >> (first + j) & 1u) == 0) continue;
          unsigned const slot = order_[(first + j) * threads + me];
          m[j] = staged_[slot];
          target[j] = targets_[slot];
          base[j] = bases_[target[j]];
          end[j] = ends_[target[j]];
        }
        WARDEN_UNROLL
        for (unsigned j = 0; j < at_once; ++j) {
          std::uint32_t const place = (first + j) * threads + me;
          if (first + j > per_thread || (pending >> (first + j) & 1u) == 0) continue;
          if (place >= end[j]) continue;  // mutation: hold-and-wait
          ref_.channel_of(target[j]).publish(base[j] + place, m[j]);
          pending &= ~(1u << (first + j));
        }
      }
      if (!simt::sync_block_or(pending != 0)) return true;
      if (!refresh_credit()) return false;
    }
  }

  /// Returns true if some messages to `d` could not be published with the credit last seen.
  WARDEN_DEVICE bool is_blocked(unsigned d) const {
    return counts_[d] != 0 && ends_[d] != offsets_[d] + counts_[d];
  }

  /// Waits until at least one blocked destination has released slots. Collective. No fence: the
  /// sequence tags would show a slot that is overwritten too early (docs/design/memory-model.md).
  WARDEN_DEVICE bool refresh_credit() const {
    while (true) {
      bool refreshed = false;
      for (unsigned d = simt::thread_rank(); d < servers(); d += threads) {
        if (!is_blocked(d)) continue;
        std::uint64_t const released = ref_.channel_of(d).released();
        if (released == released_[d]) continue;
        set_credit(d, released, offsets_[d], counts_[d]);
        refreshed = true;
      }
      if (simt::sync_block_or(refreshed)) return true;
      if (simt::sync_block_or(simt::thread_rank() == 0 && !wait_for_credit())) return false;
    }
  }

  /// Polls with one thread for all. Returns false if the launch is poisoned.
  WARDEN_DEVICE bool wait_for_credit() const {
    ref_.count_wait();
    unsigned blocked = 0;
    while (!is_blocked(blocked)) ++blocked;
    return ref_.wait_until(
        [&] {
          for (unsigned d = blocked; d < servers(); ++d) {
            if (is_blocked(d) && ref_.channel_of(d).released() != released_[d]) return true;
          }
          return false;
        },
        [&](auto watch) {
          for (unsigned d = blocked; d < servers(); ++d) {
            if (is_blocked(d)) watch(&ref_.channel_of(d).indices()->released.value);
          }
        },
        wait_kind::credit, blocked, bases_[blocked] + offsets_[blocked] + counts_[blocked] - 1);
  }

  /// Messages of a thread that are copied from shared to global memory at the same time.
  static constexpr unsigned at_once =
      std::min(per_thread + 1, std::max<unsigned>(1, 48 / sizeof(message_type)));

  Ref const& ref_;
  simt::shared_span<message_type> staged_;     ///< [slot] message
  simt::shared_span<std::uint64_t> bases_;     ///< [destination] index of place 0 in its channel
  simt::shared_span<std::uint64_t> released_;  ///< [destination] last seen of the released index
  simt::shared_span<std::uint32_t> counts_;    ///< [destination] messages; 0 between flushes
  simt::shared_span<std::uint32_t> offsets_;   ///< [destination] first place
  simt::shared_span<std::uint32_t> ends_;      ///< [destination] first place without credit
  simt::shared_span<std::uint16_t> targets_;   ///< [slot] destination or `nowhere`
  simt::shared_span<std::uint16_t> order_;     ///< [place] slot, sorted by destination
  simt::shared_span<small> small_;
  unsigned last_appended_ = none;  ///< slot of the newest message that this thread has appended
};

}  // namespace detail
WARDEN_NAMESPACE_END
