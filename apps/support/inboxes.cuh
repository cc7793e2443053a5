// SPDX-License-Identifier: Apache-2.0
/// @file
/// Messages between the blocks of one launch with grid barriers. A thread puts a message into a box
/// before a barrier, and the box's block takes it after the barrier.
#pragma once

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

namespace apps {

namespace simt = warden::simt;

/// Boxes, for kernels. A turn is the time between two barriers of the grid. Turns alternate between
/// two sets of boxes. So one barrier per turn is enough: while a thread still takes messages of the
/// turn before, other threads put messages into the other set.
template <class Message>
struct inboxes_ref {
  Message* places;  ///< [turn modulo 2][box][room]
  std::uint32_t*
      counts;  ///< [turn modulo 2][box] messages put, including those without room; 0 before
  std::uint32_t boxes;
  std::uint32_t room;  ///< messages of a box

  /// Puts a message into a box, to be taken in the next turn. Returns false if the box is full; the
  /// caller then keeps the message.
  WARDEN_DEVICE bool put(std::uint32_t turn, std::uint32_t box, Message const& m) const {
    std::uint64_t const of = index(turn, box);
    std::uint32_t const at = simt::fetch_add(&counts[of], 1u);
    // Increments past a full box are ignored.
    if (at >= room) return false;  // mutation: inbox-full
    places[of * room + at] = m;
    return true;
  }
  /// Calls `f(m)` for all messages that were put into the box in the turn before `turn`, each by
  /// one thread, in any order. Empties the box. Collective over the box's block, after the barrier
  /// that ended that turn.
  template <class F>
  WARDEN_DEVICE void take(std::uint32_t turn, std::uint32_t box, F f) const {
    std::uint64_t const of = index(turn + 1, box);  // mutation: inbox-turn
    std::uint32_t const put = simt::load_relaxed(&counts[of]);
    std::uint32_t const n = put < room ? put : room;
    for (std::uint32_t i = simt::thread_rank(); i < n; i += simt::block_threads()) {
      // Loads the whole message at once: later loads would wait for the writes of `f` to memory.
      Message const m = places[of * room + i];
      f(m);
    }
    // All threads have read the count. No thread puts a message there before the next barrier.
    simt::sync_block();
    if (put != 0 && simt::thread_rank() == 0)
      simt::store_relaxed(&counts[of], 0u);  // mutation: inbox-emptied
  }

 private:
  [[nodiscard]] WARDEN_DEVICE std::uint64_t index(std::uint32_t turn, std::uint32_t box) const {
    return std::uint64_t{turn % 2} * boxes + box;
  }
};

/// Memory of boxes, on the current device.
template <class Message>
class inboxes {
 public:
  /// Allocates `boxes` boxes for `room` messages each. Throws cuda_error when memory is short.
  inboxes(std::uint32_t boxes, std::uint32_t room)
      : places_{std::size_t{2} * boxes * room},
        counts_{std::size_t{2} * boxes},
        boxes_{boxes},
        room_{room} {}
  /// Empties all boxes; enqueued. Called before each launch, because a failed launch leaves
  /// messages.
  void clear_async(warden::stream_ref s) { counts_.fill_bytes(0, s); }
  [[nodiscard]] inboxes_ref<Message> ref() {
    return {places_.data(), counts_.data(), boxes_, room_};
  }

 private:
  warden::buffer<Message> places_;
  warden::buffer<std::uint32_t> counts_;
  std::uint32_t boxes_, room_;
};

}  // namespace apps
