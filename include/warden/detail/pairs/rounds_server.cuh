// SPDX-License-Identifier: Apache-2.0
/// @file
/// One block's work in a run in rounds: it takes one tile pair after another, waits for both tiles,
/// runs the sections between them, and releases the tiles for their next tile pairs.
///
/// Blocks take tile pairs in the order of the list, and the tile pairs of a tile run in that order.
/// The first of the tile pairs that were taken and have not finished never waits, because all
/// earlier tile pairs have finished. So every wait ends, with any number of blocks.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/pairs/log_pairs.cuh>
#include <warden/detail/pairs/pair_store.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One block's share of a run in rounds of `Ref`, a rounds_ref. `Worker` is a rounds_worker.
template <class Ref, class Worker>
class rounds_server {
  using message_type = typename Ref::message_type;
  using pairs = pair_words<typename Ref::format>;
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr unsigned per_thread = Worker::per_thread;

 public:
  /// Bytes of shared memory for tiles of these sizes, with windows halved `halvings` times.
  static constexpr std::size_t shared_bytes(tile_sizes sizes, unsigned halvings) {
    return layout{Worker::shared_bytes(sizes, Ref::halved(per_thread, halvings))}.carver.bytes();
  }

  /// Constructs a server. `storage` is shared memory of `shared_bytes(ref.sizes(),
  /// ref.window_halvings)` bytes, the same for the whole block.
  WARDEN_DEVICE rounds_server(Ref const& ref, std::byte* storage)
      : ref_{ref},
        worker_{ref, layout{}.worker.in(storage).data()},
        next_{layout{}.next.in(storage)} {}

  /// Runs tile pairs until none is left, or the run is poisoned. Collective over the block.
  WARDEN_DEVICE void run() {
    worker_.start();
    if (simt::thread_rank() == 0) take_next(0);
    simt::sync_block();
    for (unsigned turn = 0;; turn ^= 1) {
      upcoming const now = next_[turn];
      if (now.number >= ref_.bins.control->tile_pairs ||
          !run_tile_pair(now.tile_pair, now.messages, turn ^ 1))
        return;
    }
  }

 private:
  /// Messages of a tile pair: those that went to the tile `a`, then those that went to the tile
  /// `b`.
  struct bin {
    bin_range to_a, to_b;
    WARDEN_DEVICE std::uint32_t size() const {
      return to_a.end - to_a.begin + to_b.end - to_b.begin;
    }
  };
  /// A tile pair that this block has taken.
  struct upcoming {
    std::uint32_t number;  ///< number in the list
    scheduled_pair tile_pair;
    bin messages;
  };
  struct layout {
    std::size_t worker_bytes = 0;
    arena_carver carver{};
    arena_piece<upcoming> next = carver.take<upcoming>(2);
    // Last, because its size is known only at run time.
    arena_piece<std::byte> worker = carver.take<std::byte>(worker_bytes, arena_alignment);
  };

  /// Returns the messages of a window.
  WARDEN_DEVICE std::uint32_t window() const {
    return ref_.window_per_thread(per_thread) * threads;
  }

  /// Takes the next tile pair. Called by one thread.
  WARDEN_DEVICE void take_next(unsigned turn) const {
    upcoming next{};
    next.number = simt::fetch_add(&ref_.bins.control->next_tile_pair, 1u);  // mutation: pair-order
    if (next.number < ref_.bins.control->tile_pairs) {
      scheduled_pair const tile_pair = ref_.bins.tile_pairs[next.number];
      next.tile_pair = tile_pair;
      next.messages.to_a = *ref_.bins.range(tile_pair.a, tile_pair.b);
      // Between two arrays, all messages went to the first array's tile.
      if constexpr (Ref::schedule::pairs_with_itself) {
        if (tile_pair.a != tile_pair.b)
          next.messages.to_b = *ref_.bins.range(tile_pair.b, tile_pair.a);
      }
    }
    next_[turn] = next;
  }

  /// Runs a tile pair. Stores the tile pair after it in `next_[next]`. Returns false if the run is
  /// poisoned.
  WARDEN_DEVICE bool run_tile_pair(scheduled_pair const tile_pair, bin const messages,
                                   unsigned next) {
    // Bins do not change in a run: the first messages are loaded while the block waits for the
    // tiles.
    message_type m[per_thread];
    unsigned arrived = load(tile_pair, messages, 0, m);
    bool alive = true;
    // Another thread takes the next tile pair, which comes after this one in the list, so waits
    // still end. After a long tile pair it is taken later, because other blocks would wait long for
    // it.
    bool const is_short = messages.size() <= 2 * window();
    if (is_short && simt::thread_rank() == threads - 1) take_next(next);
    if (simt::thread_rank() == 0) {
      alive = ref_.wait_for_tiles(tile_pair);
      // Acquire: the threads that released the tiles fenced between their blocks' writes and the
      // release; the barrier hands that to the block. Writes of sections to other memory travel
      // with the tiles.
      simt::fence_device();  // mutation: turn-acquire
    }
    if (simt::sync_block_or(!alive)) return false;
    std::uint32_t const all = messages.size();
    // With few sections on large tiles, only the records of these sections are loaded.
    bool const few = all <= window() && 4 * all <= ref_.sizes().mean();
    if (few) {
      worker_.load({tile_pair.a, tile_pair.b}, m, arrived);
    } else {
      worker_.load({tile_pair.a, tile_pair.b});
    }
    simt::sync_block();
    for (std::uint32_t done = 0;;) {
      alive = worker_.run(m, arrived);
      // Sections of the window may have run: their records are written back below.
      if (!alive) break;  // mutation: rounds-stopped
      if (simt::thread_rank() == 0) ref_.note_window();
      done += window();
      if (done >= all) break;
      arrived = load(tile_pair, messages, done, m);
    }
    simt::sync_block();
    if (few) {
      // Loaded again, because keeping them would take registers during the run.
      arrived = load(tile_pair, messages, 0, m);
      worker_.write_back(m, arrived);
    } else {
      worker_.write_back();
    }
    if (!alive) return false;
    if (!is_short && simt::thread_rank() == threads - 1) take_next(next);
    simt::sync_block();
    if (simt::thread_rank() == 0) {
      // Release: the barrier hands this thread the block's writes.
      simt::fence_device();  // mutation: turn-release
      ref_.release_tiles(tile_pair);
    }
    return true;
  }

  /// Loads this thread's messages of the window that begins at `first`, with slots in place of ids.
  /// Returns a mask. Bit k: `m[k]` is a message.
  WARDEN_DEVICE unsigned load(scheduled_pair const& tile_pair, bin const& messages,
                              std::uint32_t first, message_type (&m)[per_thread]) const {
    std::uint32_t const to_a = messages.to_a.end - messages.to_a.begin;
    std::uint32_t const left = messages.size() - first;
    std::uint32_t const end = first + (left < window() ? left : window());
    unsigned arrived = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      std::uint32_t const i = first + k * threads + simt::thread_rank();
      if (i >= end) continue;
      arrived |= 1u << k;
      m[k] = ref_.bins.pool[i < to_a ? messages.to_a.begin + i : messages.to_b.begin + i - to_a];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      std::uint32_t const i = first + k * threads + simt::thread_rank();
      if (i >= end) continue;
      unsigned const home = i < to_a ? 0 : 1, other = tile_pair.a == tile_pair.b ? 0 : 1 - home;
      m[k] = pairs::with_numbers(m[k], worker_.slot_of(home, m[k].local()),
                                 worker_.slot_of(other, pairs::second_of(m[k])));
    }
    return arrived;
  }

  Ref const& ref_;
  Worker worker_;
  simt::shared_span<upcoming> next_;  ///< the current tile pair and the next one, alternating
};

}  // namespace detail
WARDEN_NAMESPACE_END
