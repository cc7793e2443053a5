// SPDX-License-Identifier: Apache-2.0
/// @file
/// The outbox: a client block's staging of messages in shared memory, and how a batch leaves it.
///
/// Threads stage messages without talking to each other. A flush sorts the batch by destination
/// (counting sort), reserves each destination's slots with one atomic add, and copies the sorted
/// batch out, neighbouring threads to neighbouring slots. (papers/002, section 4.3.2)
#pragma once

#include <warden/guarded_ref.cuh>
#include <warden/simt/collective.cuh>
#include <warden/thread_client.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// The staging of one client block for one guarded.
template <class Ref>
class outbox {
 public:
  /// What the guarded was tuned by.
  using policy = typename Ref::policy;
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Threads of the block.
  static constexpr unsigned threads = policy::block_threads;
  /// Messages a thread stages by `send` before a flush.
  static constexpr unsigned rounds =
      std::max<unsigned>(1, policy::outbox_bytes_per_thread / sizeof(message_type));
  static_assert(rounds <= 31, "warden: outbox_bytes_per_thread holds 31 messages at most");
  /// One more round's worth of room is for `append`.
  static constexpr unsigned slots = (rounds + 1) * threads;
  /// The destination of an empty place: no server.
  static constexpr unsigned nowhere = 0xffff;

  /// Bytes of shared memory for `servers` destinations.
  static constexpr std::size_t shared_bytes(std::size_t servers) {
    return sizeof(message_type) * slots + destination_bytes(servers) + sizeof(small);
  }

  /// `storage` is shared memory of `shared_bytes(servers)` bytes, the same for the whole block.
  WARDEN_DEVICE outbox(Ref const& ref, std::byte* storage)
      : ref_{ref},
        staged_{reinterpret_cast<message_type*>(storage), slots},
        destinations_{reinterpret_cast<destination*>(storage + sizeof(message_type) * slots),
                      ref.owners.servers()},
        small_{reinterpret_cast<small*>(storage + sizeof(message_type) * slots +
                                        destination_bytes(ref.owners.servers())),
               1} {}

  /// Once for each block of a launch, before any client uses the storage. Collective.
  WARDEN_DEVICE void start() const {
    for (unsigned d = simt::thread_rank(); d < ref_.owners.servers(); d += threads) {
      destinations_[d].count = 0;
      destinations_[d].released = ref_.channel_of(d).released();
    }
    if (simt::thread_rank() == 0) small_[0].appended = 0;
    // Acquire, for the block by the barrier, as after a wait for credit.
    simt::fence_device();
    simt::sync_block();
  }

  /// After each virtual block: what was appended and never flushed is lost. One thread, between
  /// barriers.
  WARDEN_DEVICE void discard() const { small_[0].appended = 0; }

  /// Stages this thread's message of one round; `round` is below `rounds`.
  WARDEN_DEVICE void stage(unsigned round, unsigned server, message_type m) const {
    m.set_destination(server);
    staged_[round * threads + simt::thread_rank()] = m;
  }
  /// This thread has no message in this round.
  WARDEN_DEVICE void stage_nothing(unsigned round) const {
    staged_[round * threads + simt::thread_rank()] = empty();
  }
  /// Not collective; false when the room for appended messages is full.
  WARDEN_DEVICE bool append(unsigned server, message_type m) const {
    unsigned const place = simt::shared_fetch_add(small_[0].appended, 1u);
    if (place >= threads) return false;
    m.set_destination(server);
    staged_[rounds * threads + place] = m;
    return true;
  }

  /// Sends what was staged in `used` rounds and appended. Collective. False once poisoned.
  WARDEN_DEVICE bool flush(unsigned used) const {
    simt::sync_block();  // everything staged is visible to the block
    std::uint32_t const total = sort_by_destination(used);
    bool const sent = copy_out(total);
    for (unsigned d = simt::thread_rank(); d < ref_.owners.servers(); d += threads) {
      destinations_[d].count = 0;
    }
    if (simt::thread_rank() == 0) small_[0].appended = 0;
    simt::sync_block();
    return sent;
  }

 private:
  struct destination {
    std::uint64_t first;     ///< index of the batch's first message in the channel
    std::uint64_t released;  ///< what was last seen of the channel's released index
    std::uint32_t offset;    ///< place of the batch's first message among the sorted ones
    std::uint32_t count;     ///< messages of the batch; 0 between flushes
  };
  struct small {
    typename simt::block_scan<threads>::storage scan;
    std::uint32_t appended;
  };

  /// What lies behind stays aligned to 16 bytes.
  WARDEN_HOST_DEVICE static constexpr std::size_t destination_bytes(std::size_t servers) {
    return (sizeof(destination) * servers + 15) / 16 * 16;
  }

  WARDEN_DEVICE static message_type empty() {
    message_type m{};
    m.set_destination(nowhere);
    return m;
  }

  /// Counting sort in place, and the reservations. Returns the number of messages.
  WARDEN_DEVICE std::uint32_t sort_by_destination(unsigned used) const {
    unsigned const me = simt::thread_rank();
    unsigned const asked = simt::shared_load(small_[0].appended);
    unsigned const appended = asked < threads ? asked : threads;
    message_type mine[rounds + 1];
    std::uint32_t rank[rounds + 1];
    // Take the messages out, and rank each among those of its destination.
    WARDEN_UNROLL
    for (unsigned r = 0; r <= rounds; ++r) {
      bool const filled = r < used || (r == rounds && me < appended);
      mine[r] = filled ? staged_[r * threads + me] : empty();
      unsigned const to = mine[r].destination();
      if (to != nowhere) rank[r] = simt::shared_fetch_add(destinations_[to].count, 1u);
    }
    simt::sync_block();
    // Reserve at each destination, and find where its messages go.
    std::uint32_t total = 0;
    for (unsigned first = 0; first < ref_.owners.servers(); first += threads) {
      unsigned const d = first + me;
      std::uint32_t const count = d < ref_.owners.servers() ? destinations_[d].count : 0;
      std::uint64_t const reserved = count != 0 ? ref_.channel_of(d).reserve(count) : 0;
      std::uint32_t sum;
      std::uint32_t const before =
          simt::block_scan<threads>::exclusive_sum(small_[0].scan, count, sum);
      if (count != 0) {
        destinations_[d].offset = total + before;
        destinations_[d].first = reserved;
        if constexpr (policy::statistics) {
          simt::fetch_add(&ref_.report->totals.messages, std::uint64_t{count});
          simt::fetch_add(&ref_.report->totals.batches, std::uint64_t{1});
        }
      }
      total += sum;
      simt::sync_block();
    }
    WARDEN_UNROLL
    for (unsigned r = 0; r <= rounds; ++r) {
      unsigned const to = mine[r].destination();
      if (to != nowhere) staged_[destinations_[to].offset + rank[r]] = mine[r];
    }
    simt::sync_block();
    return total;
  }

  /// Publishes the sorted batch. A destination without credit holds up none of the others:
  /// everything that fits anywhere is published before anybody waits, so two blocks can never each
  /// hold the slot that the other one's destination must see next.
  WARDEN_DEVICE bool copy_out(std::uint32_t total) const {
    // What any thread of the block wrote before it staged a message came before the barriers above;
    // this fence, by the thread that publishes, makes it visible with the message.
    if constexpr (Ref::fences) simt::fence_device();  // sabotage: release-fence
    std::uint32_t pending = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k <= rounds; ++k) {
      pending |= (k * threads + simt::thread_rank() < total ? 1u : 0u) << k;
    }
    while (true) {
      WARDEN_UNROLL
      for (unsigned k = 0; k <= rounds; ++k) {
        if ((pending >> k & 1u) == 0) continue;
        std::uint32_t const place = k * threads + simt::thread_rank();
        message_type const m = staged_[place];
        unsigned const to = m.destination();
        std::uint64_t const index = destinations_[to].first + (place - destinations_[to].offset);
        auto const channel = ref_.channel_of(to);
        bool const fits = channel.has_credit(index, destinations_[to].released);
        if (!fits) continue;  // sabotage: hold-and-wait
        channel.publish(index, m);
        pending &= ~(1u << k);
      }
      if (!simt::sync_block_or(pending != 0)) return true;
      if (!refresh_credit()) return false;
    }
  }

  /// Whether some of the batch's messages to `d` could not be published with the credit last seen.
  WARDEN_DEVICE bool is_blocked(unsigned d) const {
    destination const& to = destinations_[d];
    return to.count != 0 && !ref_.channel_of(d).has_credit(to.first + to.count - 1, to.released);
  }

  /// Waits until at least one blocked destination has released slots. Collective. One thread polls.
  WARDEN_DEVICE bool refresh_credit() const {
    bool alive = true;
    if (simt::thread_rank() == 0) {
      if constexpr (policy::statistics)
        simt::fetch_add(&ref_.report->totals.waits, std::uint64_t{1});
      unsigned const servers = ref_.owners.servers();
      unsigned blocked = 0;
      while (!is_blocked(blocked)) ++blocked;
      alive = ref_.wait_until(
          [&] {
            for (unsigned d = blocked; d < servers; ++d) {
              if (is_blocked(d) && ref_.channel_of(d).released() != destinations_[d].released)
                return true;
            }
            return false;
          },
          [&](auto watch) {
            for (unsigned d = blocked; d < servers; ++d) {
              if (is_blocked(d)) watch(&ref_.channel_of(d).indices()->released.value);
            }
          },
          wait_kind::credit, blocked,
          destinations_[blocked].first + destinations_[blocked].count - 1);
    }
    if (simt::sync_block_or(!alive)) return false;
    bool refreshed = false;
    for (unsigned d = simt::thread_rank(); d < ref_.owners.servers(); d += threads) {
      if (!is_blocked(d)) continue;
      destinations_[d].released = ref_.channel_of(d).released();
      refreshed = true;
    }
    // Acquire, for the whole block by the barrier: the server read the slots before it released
    // them.
    if (refreshed) simt::fence_device();
    simt::sync_block();
    return true;
  }

  Ref const& ref_;
  simt::shared_span<message_type> staged_;
  simt::shared_span<destination> destinations_;
  simt::shared_span<small> small_;
};

WARDEN_NAMESPACE_END
