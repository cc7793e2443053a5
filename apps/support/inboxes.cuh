// SPDX-License-Identifier: Apache-2.0
/// @file
/// Messages between the blocks of one launch that meet at barriers: a message that is put into a
/// box before a barrier is taken by the box's block after it.
#pragma once

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

namespace apps {

namespace simt = warden::simt;

/// The boxes, for kernels. Turns are what lies between two barriers of the grid, by number. There
/// are two sets of boxes, used in turn: one barrier a turn is enough, because while a thread still
/// takes what came in the turn before, others put into the other set.
template <class Message>
struct inboxes_ref {
  Message* places;        ///< [turn modulo 2][box][room]
  std::uint32_t* counts;  ///< [turn modulo 2][box] messages that were to be put there; 0 before
  std::uint32_t boxes;
  std::uint32_t room;  ///< messages of a box

  /// Puts a message into a box, to be taken in the next turn. False if the box is full: then the
  /// message is still the caller's.
  WARDEN_DEVICE bool put(std::uint32_t turn, std::uint32_t box, Message const& m) const {
    std::uint64_t const of = index(turn, box);
    std::uint32_t const at = simt::fetch_add(&counts[of], 1u);
    // The count is then ignored.
    if (at >= room) return false;  // mutation: inbox-full
    places[of * room + at] = m;
    return true;
  }
  /// Calls `f(m)` for all messages that were put into the box in the turn before `turn`; each by
  /// one thread, in any order, and empties the box. Collective over the block whose box it is,
  /// after the barrier that ended that turn.
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
    // All have read it. No thread puts anything there before the next barrier.
    simt::sync_block();
    if (put != 0 && simt::thread_rank() == 0)
      simt::store_relaxed(&counts[of], 0u);  // mutation: inbox-emptied
  }

 private:
  [[nodiscard]] WARDEN_DEVICE std::uint64_t index(std::uint32_t turn, std::uint32_t box) const {
    return std::uint64_t{turn % 2} * boxes + box;
  }
};

/// Their memory, on the current device.
template <class Message>
class inboxes {
 public:
  /// Throws cuda_error when memory is short.
  inboxes(std::uint32_t boxes, std::uint32_t room)
      : places_{std::size_t{2} * boxes * room},
        counts_{std::size_t{2} * boxes},
        boxes_{boxes},
        room_{room} {}
  /// Empties all of them, before each launch: one that failed left something there. Enqueued.
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
