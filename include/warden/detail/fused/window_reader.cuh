// SPDX-License-Identifier: Apache-2.0
/// @file
/// One thread's part in receiving a channel by windows.
#pragma once

#include <warden/detail/fused/channel.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Position of one thread in a channel that a block reads window by window. Thread t of `Threads`
/// reads the indices that are t mod `Threads`, `PerThread` of them at a time. So a sender that is
/// slow to publish a reserved index delays only the following indices of one thread. All indices
/// below the smallest one that any thread still expects have been received.
template <class Channel, unsigned Threads, unsigned PerThread>
class window_reader {
  static_assert(PerThread != 0 && PerThread < 32,
                "warden: a window has 1 to 31 messages for each thread");
  static_assert((Threads & (Threads - 1)) == 0,
                "warden: this executor needs a power of two as block_threads");

 public:
  /// Constructs a reader that begins where the launch before has ended.
  WARDEN_DEVICE explicit window_reader(Channel const& channel)
      : channel_{channel},
        released_{simt::load_relaxed(&channel.indices()->released.value)},
        ahead_{(simt::thread_rank() - static_cast<unsigned>(released_)) & (Threads - 1)} {}

  /// Loads the thread's next indices, of which it takes the first `used`, 1 to `PerThread`. Returns
  /// a mask. Bit k: m[k] is a new message.
  template <class Message>
  WARDEN_DEVICE unsigned receive(Message* m, unsigned used) {
    return receive(m, ~0u >> (32 - used), [](std::uint64_t) { return true; });
  }
  /// Receives only messages of indices below `end`.
  template <class Message>
  WARDEN_DEVICE unsigned receive_below(Message* m, std::uint64_t end) {
    return receive(m, ~0u, [&](std::uint64_t i) { return i < end; });  // mutation: forward-below
  }

  /// Returns how far beyond `released` this thread has received everything.
  WARDEN_DEVICE unsigned ahead() const { return ahead_; }
  /// Notes that all threads have received `count` more indices: the minimum of their `ahead`.
  WARDEN_DEVICE void release(unsigned count) {
    released_ += count;
    ahead_ -= count;
  }
  /// Returns the oldest index that is still expected.
  WARDEN_DEVICE std::uint64_t released() const { return released_; }

 private:
  template <class Message, class MayRead>
  WARDEN_DEVICE unsigned receive(Message* m, unsigned wanted, MayRead may_read) {
    unsigned arrived = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < PerThread; ++k) {
      std::uint64_t const index = released_ + (ahead_ + k * Threads);
      // Loaded unconditionally: all loads are in progress before the first result is used.
      bool const is_there = channel_.receive(index, m[k]);
      if (is_there && may_read(index)) arrived |= 1u << k;
    }
    arrived &= wanted;
    arrived &= ~taken_;  // mutation: window-twice
    taken_ |= arrived;
    // Go on to the first index that is still expected.
    auto const passed = static_cast<unsigned>(simt::first_bit(~taken_));
    ahead_ += passed * Threads;
    taken_ >>= passed;
    return arrived;
  }

  Channel channel_;
  std::uint64_t released_;
  unsigned ahead_;      ///< distance of this thread's first expected index from `released_`
  unsigned taken_ = 0;  ///< bit k: the index k * Threads beyond that one was received
};

/// Gives slots back to the senders. The server's `channel` was received from `before` up to
/// `received`, and executed up to `executed`. Called by one thread.
template <class Ref, class Channel>
WARDEN_DEVICE void give_back(Ref const& ref, Channel const& channel, std::uint64_t before,
                             std::uint64_t received, std::uint64_t executed) {
  channel_indices* const indices = channel.indices();
  if (received != before) {
    // Relaxed: the sequence tags of the received messages show that they were not overwritten
    // before.
    simt::store_relaxed(&indices->released.value, received);
    ref.note_fullness(channel, before);
  }
  simt::store_relaxed(&indices->executed.value, executed);
}

}  // namespace detail
WARDEN_NAMESPACE_END
