// SPDX-License-Identifier: Apache-2.0
/// @file
/// The buffered outbox keeps a buffer of 32 messages for each destination in a client block's
/// shared memory. All warps fill it, and one warp copies it out when it is full. [Wang 2020,
/// section 4.3.2 and figure 4.3]
///
/// A thread takes a ticket of its destination's buffer. The buffer holds the tickets from `left` to
/// `left + 31`; a thread with a later ticket waits. The thread that fills the last place hands the
/// buffer to its warp. The warp reserves 32 slots with one atomic add and copies adjacent messages
/// to adjacent slots. This needs no block barrier.
///
/// A warp that copies out has reserved slots at one destination only. It publishes the messages
/// that fit before it waits for more room, so it never holds slots of one destination while it
/// waits for another. A thread that waits for a place holds no slots.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/fused/guarded_ref.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Staging of one client block for one guarded array.
template <class Ref>
class buffered_outbox {
  static_assert(!Ref::policy::combine_in_fused,
                "warden: sender::buffered does not combine; sender::sorted does");

 public:
  /// Message with room for the largest section.
  using message_type = typename Ref::client_message;
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Messages of one buffer: one for each lane of the warp that copies it out.
  static constexpr unsigned buffer = simt::warp_size;
  /// Messages that each thread stages before send_full must be called.
  static constexpr unsigned per_thread = 1;
  /// Messages that fill several buffers.
  static constexpr unsigned batch = 8 * threads;
  /// True: full buffers are sent before `flush`.
  static constexpr bool sends_full_buffers = true;
  /// Upper bound of the number of servers, exclusive.
  static constexpr unsigned nowhere = 0xffff;

  /// Bytes of shared memory for `servers` destinations.
  static constexpr std::size_t shared_bytes(std::size_t servers) {
    return layout{servers}.carver.bytes();
  }

  /// Constructs an outbox. `storage` is shared memory of `shared_bytes(servers)` bytes, the same
  /// for the whole block.
  WARDEN_DEVICE buffered_outbox(Ref const& ref, std::byte* storage)
      : buffered_outbox{ref, storage, layout{ref.owners.servers()}} {}

  /// Initializes the storage once for each block of a launch, before any client uses it. Collective
  /// over the block.
  WARDEN_DEVICE void start() const {
    for (unsigned d = simt::thread_rank(); d < servers(); d += threads) {
      taken_[d] = filled_[d] = left_[d] = full_[d] = 0;
      released_[d] = 0;  // less than any channel's, so the first use reads the channel
    }
    if (simt::thread_rank() == 0) changes_[0] = lost_[0] = 0;
    simt::sync_block();
  }

  /// Discards and counts messages that a virtual block never flushed. Called by one thread, between
  /// barriers.
  WARDEN_DEVICE void discard() const {
    if (simt::shared_load(lost_[0]) == 0) return;
    std::uint64_t messages = 0;
    for (unsigned d = 0; d < servers(); ++d) {
      messages += filled_[d] - left_[d];
      taken_[d] = filled_[d] = left_[d];
      full_[d] = 0;
    }
    lost_[0] = 0;
    simt::fetch_add(&ref_.report->unflushed, messages);
  }
  /// Notes that this thread has staged messages that may never be flushed. `discard` counts them.
  WARDEN_DEVICE void lose(unsigned) const { simt::shared_store(lost_[0], 1u); }

  /// Takes a place for this thread's message. The next `send_full` fills it.
  WARDEN_DEVICE void stage(unsigned, unsigned server, message_type const& m) {
    if (failed_) return;
    waiting_ = true;
    destination_ = server;
    message_ = m;
    ticket_ = simt::shared_fetch_add(taken_[server], 1u);
  }
  /// Does nothing: this thread has no message this time.
  WARDEN_DEVICE void stage_nothing(unsigned) const {}

  /// Fills the places that were taken, and sends the full buffers. Collective over the block. Warps
  /// meet only once in `calls_between_meetings` calls, to agree on whether the launch is poisoned;
  /// then it returns false.
  WARDEN_DEVICE bool send_full() {
    while (!failed_) {
      // Read before the lanes look at any buffer: a later change ends the wait below.
      std::uint32_t const seen = simt::shared_load(changes_[0]);
      simt::fence_block();
      simt::sync_warp(simt::full_warp);
      bool const filled = waiting_ && fill();
      bool const is_full = filled ? is_filled_up_ : waiting_ && claim(destination_);
      waiting_ = waiting_ && !filled;
      for (unsigned full = simt::ballot(simt::full_warp, is_full); full != 0; full &= full - 1) {
        auto const lane = static_cast<unsigned>(simt::first_bit(full));
        unsigned const to = simt::shuffle(simt::full_warp, destination_, lane);
        failed_ = failed_ || !copy_out(to, buffer);
      }
      unsigned const waiting = simt::ballot(simt::full_warp, waiting_);
      if (waiting == 0) break;
      if (!simt::any(simt::full_warp, filled || is_full)) {
        auto const lane = static_cast<unsigned>(simt::first_bit(waiting));
        bool const stopped =
            simt::lane_id() == lane && !wait_for_change(seen);  // mutation: change-seen
        failed_ = failed_ || simt::any(simt::full_warp, stopped);
      }
    }
    if (++calls_ % calls_between_meetings != 0) return true;
    return !simt::sync_block_or(failed_);
  }

  /// Stages one message. Not collective. Returns false if the destination's buffer is full.
  WARDEN_DEVICE bool append(unsigned server, message_type const& m) const {
    std::uint32_t const left = simt::shared_load(left_[server]);
    std::uint32_t ticket = simt::shared_load(taken_[server]);
    while (true) {
      // After this thread takes a ticket below that bound, the buffer cannot leave before its place
      // is filled.
      if (ticket - left >= buffer) return false;
      std::uint32_t const was = simt::shared_compare_exchange(taken_[server], ticket, ticket + 1);
      if (was == ticket) break;
      ticket = was;
    }
    if (put(server, ticket - left, m)) {
      // The other lanes of this warp may be anywhere. So any warp that waits for room, or flushes,
      // copies the buffer out.
      simt::shared_store(full_[server], 1u);  // mutation: buffer-full
      announce_change();
    }
    return true;
  }

  /// Sends all messages left in the buffers. Collective over the block. Returns false if the launch
  /// is poisoned.
  WARDEN_DEVICE bool flush(unsigned) {
    // All staged and appended messages are in the buffers and visible to the block.
    if (simt::sync_block_or(failed_)) return false;
    for (unsigned d = simt::warp_rank(); d < servers() && !failed_; d += threads / buffer) {
      std::uint32_t const count = filled_[d] - left_[d];
      if (count == 0) continue;
      simt::sync_warp(simt::full_warp);
      if (simt::lane_id() == 0) full_[d] = 0;
      failed_ = !copy_out(d, count);
    }
    failed_ = simt::sync_block_or(failed_);
    return !failed_;
  }

 private:
  struct layout {
    std::size_t servers;
    arena_carver carver{};
    arena_piece<message_type> buffers = carver.take<message_type>(buffer * servers);
    arena_piece<std::uint64_t> released = carver.take<std::uint64_t>(servers);
    arena_piece<std::uint32_t> taken = carver.take<std::uint32_t>(servers);
    arena_piece<std::uint32_t> filled = carver.take<std::uint32_t>(servers);
    arena_piece<std::uint32_t> left = carver.take<std::uint32_t>(servers);
    arena_piece<std::uint32_t> full = carver.take<std::uint32_t>(servers);
    arena_piece<std::uint32_t> changes = carver.take<std::uint32_t>(1);
    arena_piece<std::uint32_t> lost = carver.take<std::uint32_t>(1);
  };

  WARDEN_DEVICE buffered_outbox(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref},
        buffers_{at.buffers.in(storage)},
        released_{at.released.in(storage)},
        taken_{at.taken.in(storage)},
        filled_{at.filled.in(storage)},
        left_{at.left.in(storage)},
        full_{at.full.in(storage)},
        changes_{at.changes.in(storage)},
        lost_{at.lost.in(storage)} {}

  WARDEN_DEVICE unsigned servers() const { return ref_.owners.servers(); }

  /// Fills the place of this thread's ticket if the buffer holds that place now.
  WARDEN_DEVICE bool fill() {
    // A ticket beyond the buffer belongs to the next filling. The present filling leaves first, and
    // the filling of this ticket cannot leave without this message.
    std::uint32_t const place = ticket_ - simt::shared_load(left_[destination_]);
    if (place >= buffer) return false;  // mutation: buffer-reuse
    is_filled_up_ = put(destination_, place, message_);
    return true;
  }
  /// Writes a message to its place. Returns true if all places are filled now.
  WARDEN_DEVICE bool put(unsigned server, std::uint32_t place, message_type const& m) const {
    // Acquire: the thread that copied the buffer out had read this place before it raised `left`.
    simt::fence_block();
    buffers_[server * buffer + place] = m;
    std::uint32_t const left = simt::shared_load(left_[server]);
    // Release and acquire: each thread's message, and all it wrote before, comes before its count.
    // The thread that counts the last message hands the buffer to the threads that copy it out.
    simt::fence_block();
    bool const last = simt::shared_fetch_add(filled_[server], 1u) + 1 - left == buffer;
    simt::fence_block();
    return last;
  }
  /// Claims a buffer that `append` has filled up. Returns true for one thread only.
  WARDEN_DEVICE bool claim(unsigned server) const {
    if (simt::shared_load(full_[server]) == 0) return false;
    bool const claimed = simt::shared_exchange(full_[server], 0u) != 0;
    if (claimed) simt::fence_block();
    return claimed;
  }

  /// Wakes the warps that wait for room, after `left` or `full` has changed.
  WARDEN_DEVICE void announce_change() const {
    simt::fence_block();
    simt::shared_fetch_add(changes_[0], 1u);
  }
  /// Waits until `changes` differs from `seen`. Returns false if the launch is poisoned. Another
  /// warp makes the change; only a lack of credit can hold that warp up.
  WARDEN_DEVICE bool wait_for_change(std::uint32_t seen) const {
    return ref_.wait_until([&] { return simt::shared_load(changes_[0]) != seen; },
                           [&](auto watch) { watch(&changes_[0]); }, wait_kind::credit,
                           destination_, simt::shared_load(released_[destination_]));
  }

  /// Sends the first `count` messages of a buffer, which are all filled. Collective over a warp;
  /// one warp at a time for each buffer. Returns false if the launch is poisoned.
  WARDEN_DEVICE bool copy_out(unsigned d, std::uint32_t count) const {
    unsigned const me = simt::lane_id();
    auto const channel = ref_.channel_of(d);
    std::uint64_t first = 0;
    if (me == 0) {
      first = channel.reserve(count);
      ref_.count_batch(count);
    }
    first = simt::shuffle(simt::full_warp, first, 0);
    for (std::uint32_t done = 0, end = 0; done < count; done = end) {
      if (me == 0) end = credit_beyond(d, first, count, done);
      end = simt::shuffle(simt::full_warp, end, 0);
      if (end == 0) return false;
      // Hands to all lanes the filled buffer and the free slots that one lane has acquired.
      simt::sync_warp(simt::full_warp);
      if constexpr (Ref::fences && Ref::channel::in_band) simt::fence_device();
      if (me >= done && me < end) channel.write(first + me, buffers_[d * buffer + me]);
      simt::sync_warp(simt::full_warp);
      if (me == 0) channel.announce(first + done, end - done);
    }
    if (me == 0) {
      // Release: the warp barrier proves that all lanes have read their messages.
      simt::fence_block();
      simt::shared_store(left_[d], left_[d] + count);
      announce_change();
    }
    return true;
  }

  /// Waits until more than `done` of the `count` indices from `first` on may be written. Returns
  /// their number, or 0 if the launch is poisoned. Called by one thread.
  WARDEN_DEVICE std::uint32_t credit_beyond(unsigned d, std::uint64_t first, std::uint32_t count,
                                            std::uint32_t done) const {
    auto const channel = ref_.channel_of(d);
    std::uint32_t const known = channel.credit(first, count, released_[d]);
    if (known > done) return known;
    if (!channel.has_credit(first + done, channel.released())) {
      ref_.count_wait();
      if (!ref_.wait_for_credit(d, first + done)) return 0;
    }
    std::uint64_t const released = channel.acquire_released();
    // Warps that wait for this one read it.
    simt::shared_store(released_[d], released);  // mutation: released-store
    return channel.credit(first, count, released);
  }

  /// A meeting costs a block barrier.
  static constexpr unsigned calls_between_meetings = 32;

  Ref const& ref_;
  simt::shared_span<message_type> buffers_;    ///< [destination][place]
  simt::shared_span<std::uint64_t> released_;  ///< [destination] last seen of the released index
  simt::shared_span<std::uint32_t> taken_;     ///< [destination] tickets
  simt::shared_span<std::uint32_t> filled_;    ///< [destination] messages put into the buffer
  simt::shared_span<std::uint32_t> left_;      ///< [destination] messages that have left it
  simt::shared_span<std::uint32_t> full_;      ///< [destination] 1: full and not claimed
  simt::shared_span<std::uint32_t> changes_;   ///< how often `left` or `full` has changed
  simt::shared_span<std::uint32_t> lost_;      ///< 1: there are messages that no thread will flush
  // This thread's message, until it is in its buffer.
  message_type message_;
  unsigned destination_ = 0;
  std::uint32_t ticket_ = 0;
  bool waiting_ = false;
  bool is_filled_up_ = false;
  bool failed_ = false;  ///< this warp has found the launch poisoned
  unsigned calls_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
