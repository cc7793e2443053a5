// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs the sections between the records of two tiles that a block holds. Uses locks in shared
/// memory as long as few threads want one record. If many do, one thread runs their sections one
/// after another.
///
/// The thread that holds a message tries to take both its locks, or none, so no thread waits for a
/// lock while it holds another. Messages on a lock that many threads did not get go to
/// hot_record_warps. If both tiles have few records, one thread runs all sections.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/pairs/few_records.cuh>
#include <warden/detail/pairs/hot_record_warps.cuh>
#include <warden/detail/pairs/pair_sections.cuh>
#include <warden/detail/pairs/two_array_store.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs the sections of one window after another. `Ref` is a rounds_ref; messages have slots in
/// place of ids. See rounds_server.
template <class Ref>
class rounds_worker {
  using sections = pair_sections<Ref>;
  using message_type = typename sections::message_type;
  using store = typename sections::store;

 public:
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Maximum of messages of a thread in one window.
  static constexpr unsigned per_thread = std::max<unsigned>(1, 64 / sizeof(message_type));

  /// Bytes of shared memory for tiles of these sizes, and windows of `used` messages of each
  /// thread.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(tile_sizes sizes, unsigned used) {
    return layout{sizes, used}.carver.bytes();
  }

  /// Constructs a worker. `storage` is the same for the whole block.
  WARDEN_DEVICE rounds_worker(Ref const& ref, std::byte* storage)
      : rounds_worker{ref, storage, layout{ref.sizes(), ref.window_per_thread(per_thread)}} {}

  /// Frees all locks and forgets all messages. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const { hot_warps_.start(); }
  /// Loads the records of two tiles, as pair_store.
  WARDEN_DEVICE void load(two_tiles pair) {
    forget();
    records().load(pair);
  }
  /// Takes two tiles, but loads only the records of this thread's messages. Collective.
  WARDEN_DEVICE void load(two_tiles pair, message_type const (&m)[per_thread], unsigned arrived) {
    forget();
    records().hold(pair);
    sections::for_each_record(m, arrived, [&](std::uint32_t slot) { records().load(slot); });
  }
  /// Writes back the records of this thread's messages. Collective, after a barrier.
  WARDEN_DEVICE void write_back(message_type const (&m)[per_thread], unsigned arrived) const {
    sections::for_each_record(m, arrived, [&](std::uint32_t slot) { records().write_back(slot); });
  }
  /// Writes back all records, as pair_store.
  WARDEN_DEVICE void write_back() const { records().write_back(); }
  /// Returns the slot of a tile's record; `side` is 0 for the first tile, 1 for the second.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return records().slot_of(side, local);
  }

  /// Runs the messages `m[k]` of the bits k of `arrived`. Collective over the block. Returns false
  /// if the run is poisoned.
  WARDEN_DEVICE bool run(message_type const (&m)[per_thread], unsigned arrived) {
    // All sections want the same few records.
    if (ref_.sizes().first <= few_slots / 2 && ref_.sizes().second <= few_slots / 2) {
      hot_warps_.run_by_one(m, arrived);
      simt::sync_block();
      return true;
    }
    unsigned const hot = has_hot_ ? hot_ones(m, arrived) : 0;
    // The whole block does the first iteration, which finds the hot locks. In the following
    // iterations each thread runs its remaining messages. One loop for both, so that there is one
    // copy of every section.
    bool is_sorted = false, alive = true;
    WARDEN_NO_UNROLL
    for (unsigned waiting = arrived & ~hot;;) {
      waiting = try_all(m, waiting);
      if (!is_sorted) {
        if (!simt::sync_block_or((waiting | hot) != 0)) return true;
        waiting = hot_warps_.take(m, waiting | hot);
        simt::sync_block();
        is_sorted = true;
      } else if (waiting != 0) {
        alive = wait_for_one(m, waiting);
      }
      if (waiting == 0 || !alive) break;
    }
    if (!simt::any(simt::full_warp, !alive)) alive = hot_warps_.run();
    if (simt::sync_block_or(!alive)) return false;
    has_hot_ = true;
    return true;
  }

 private:
  using hot_warps = hot_record_warps<Ref, per_thread>;
  /// Failed attempts in a row, for all of its messages, after which a thread leaves them.
  static constexpr unsigned patience = 8;

  struct layout {
    tile_sizes sizes;
    unsigned used;  ///< messages of each thread in a window
    arena_carver carver{};
    typename hot_warps::pieces pieces = hot_warps::carve(carver, sizes, used);
  };

  WARDEN_DEVICE rounds_worker(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref}, hot_warps_{ref, at.pieces, storage} {}

  WARDEN_DEVICE store& records() { return hot_warps_.all_sections().records(); }
  WARDEN_DEVICE store const& records() const { return hot_warps_.all_sections().records(); }

  /// Forgets the hot locks of the tile pair before. Collective; a block barrier follows.
  WARDEN_DEVICE void forget() {
    if (has_hot_) hot_warps_.forget();
    has_hot_ = false;
  }

  /// Returns the bits of the messages that want a lock which many threads did not get in this tile
  /// pair.
  WARDEN_DEVICE unsigned hot_ones(message_type const (&m)[per_thread], unsigned arrived) const {
    unsigned hot = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      if ((arrived >> k & 1u) == 0) continue;
      auto const [a, b] = sections::locks_of(m[k]);
      if (hot_warps_.is_hot(a) || hot_warps_.is_hot(b)) hot |= 1u << k;
    }
    return hot;
  }

  /// Tries, in each thread, to take the locks of its messages in turn. Returns the bits of the
  /// messages that did not run. No lock is held from one attempt to the next, so lanes never wait
  /// for one another.
  WARDEN_DEVICE unsigned try_all(message_type const (&m)[per_thread], unsigned waiting) const {
    WARDEN_NO_UNROLL
    for (unsigned failures = 0; waiting != 0 && failures < patience;) {
      unsigned const before = waiting;
      WARDEN_UNROLL
      for (unsigned k = 0; k < per_thread; ++k) {
        if ((waiting >> k & 1u) == 0) continue;
        auto const [a, b] = sections::locks_of(m[k]);
        if (!hot_warps_.locks().try_lock(a, b)) continue;
        hot_warps_.all_sections().run(m[k]);
        // Release, by the thread that ran the section.
        simt::fence_block();
        hot_warps_.locks().unlock(a, b);
        waiting &= ~(1u << k);
      }
      failures = waiting == before ? failures + 1 : 0;
    }
    return waiting;
  }

  /// Waits for the locks of one of these messages. Returns false if the run is poisoned.
  WARDEN_DEVICE bool wait_for_one(message_type const (&m)[per_thread], unsigned waiting) const {
    lock_pair wanted{0, 0};
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k)
      if ((waiting >> k & 1u) != 0) wanted = sections::locks_of(m[k]);
    return hot_warps_.wait_for(wanted);
  }

  Ref const& ref_;
  hot_warps hot_warps_;
  bool has_hot_ = false;  ///< true if a window of this tile pair had remaining messages
};

}  // namespace detail
WARDEN_NAMESPACE_END
