// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a block does in a run in rounds: takes one tile pair after another, holds its two parts,
/// runs the sections between them, and hands the parts on to those who play them next.
///
/// Tile pairs are taken in the order of the list, and a part's tile pairs are played in that order.
/// Of all tile pairs that were taken and not played, the first waits for nobody: the tile pairs
/// before it have been played. So a wait ends, however few blocks there are.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/pairs/log_pairs.cuh>
#include <warden/detail/pairs/pair_store.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One block's part of a run in rounds of `Ref`, a rounds_ref. A `Worker` is a rounds_worker.
template <class Ref, class Worker>
class rounds_server {
  using message_type = typename Ref::message_type;
  using pairs = pair_words<typename Ref::format>;
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr unsigned rounds = Worker::rounds;

 public:
  /// Bytes of shared memory for parts of these sizes, with windows halved `halvings` times.
  static constexpr std::size_t shared_bytes(part_sizes sizes, unsigned halvings) {
    return layout{Worker::shared_bytes(sizes, Ref::halved(rounds, halvings))}.carver.bytes();
  }

  /// `storage` is shared memory of `shared_bytes(ref.sizes(), ref.window_halvings)` bytes, the same
  /// for the whole block.
  WARDEN_DEVICE rounds_server(Ref const& ref, std::byte* storage)
      : ref_{ref},
        worker_{ref, layout{}.worker.in(storage).data()},
        next_{layout{}.next.in(storage)} {}

  /// Until no tile pair is left, or the run is poisoned. Collective over the block.
  WARDEN_DEVICE void run() {
    worker_.start();
    if (simt::thread_rank() == 0) take_next(0);
    simt::sync_block();
    for (unsigned turn = 0;; turn ^= 1) {
      upcoming const now = next_[turn];
      if (now.number >= ref_.bins.control->tile_pairs ||
          !play(now.tile_pair, now.messages, turn ^ 1))
        return;
    }
  }

 private:
  /// The messages of a tile pair: those that went to the one part, then those that went to the
  /// other.
  struct bin {
    bin_range to_a, to_b;
    WARDEN_DEVICE std::uint32_t size() const {
      return to_a.end - to_a.begin + to_b.end - to_b.begin;
    }
  };
  /// A tile pair that this block has taken.
  struct upcoming {
    std::uint32_t number;  ///< in the list
    scheduled_pair tile_pair;
    bin messages;
  };
  struct layout {
    std::size_t worker_bytes = 0;
    arena_carver carver{};
    arena_piece<upcoming> next = carver.take<upcoming>(2);
    // Last: only its size is known no earlier than at run time.
    arena_piece<std::byte> worker = carver.take<std::byte>(worker_bytes, arena_alignment);
  };

  /// Messages of a window.
  WARDEN_DEVICE std::uint32_t window() const { return ref_.window_rounds(rounds) * threads; }

  /// One thread.
  WARDEN_DEVICE void take_next(unsigned turn) const {
    upcoming next{};
    next.number = simt::fetch_add(&ref_.bins.control->next_tile_pair, 1u);  // mutation: pair-order
    if (next.number < ref_.bins.control->tile_pairs) {
      scheduled_pair const tile_pair = ref_.bins.tile_pairs[next.number];
      next.tile_pair = tile_pair;
      next.messages.to_a = *ref_.bins.range(tile_pair.a, tile_pair.b);
      // Between two arrays all messages went to the first one's.
      if constexpr (Ref::schedule::pairs_with_itself) {
        if (tile_pair.a != tile_pair.b)
          next.messages.to_b = *ref_.bins.range(tile_pair.b, tile_pair.a);
      }
    }
    next_[turn] = next;
  }

  /// False once the run is poisoned. Behind it, `next_[next]` is the tile pair after.
  WARDEN_DEVICE bool play(scheduled_pair const tile_pair, bin const messages, unsigned next) {
    // Bins do not change in a run: the first messages are under way while the parts are not there.
    message_type m[rounds];
    unsigned arrived = load(tile_pair, messages, 0, m);
    bool alive = true;
    // Another one looks up the tile pair after this, which is behind it: what was said of waits
    // holds. But not where others would wait long for it.
    bool const is_short = messages.size() <= 2 * window();
    if (is_short && simt::thread_rank() == threads - 1) take_next(next);
    if (simt::thread_rank() == 0) {
      alive = ref_.wait_for_turns(tile_pair);
      // Acquire: who played the parts before fenced between what its block wrote and their turns;
      // the barrier hands it to the block. What sections wrote elsewhere travels with the parts.
      simt::fence_device();  // mutation: turn-acquire
    }
    if (simt::sync_block_or(!alive)) return false;
    std::uint32_t const all = messages.size();
    // Few sections on large parts: only their records are loaded.
    bool const few = all <= window() && 4 * all <= ref_.sizes().mean();
    if (few) {
      worker_.load({tile_pair.a, tile_pair.b}, m, arrived);
    } else {
      worker_.load({tile_pair.a, tile_pair.b});
    }
    simt::sync_block();
    for (std::uint32_t done = 0;;) {
      if (!worker_.run(m, arrived)) return false;
      if (simt::thread_rank() == 0) ref_.note_window();
      done += window();
      if (done >= all) break;
      arrived = load(tile_pair, messages, done, m);
    }
    simt::sync_block();
    if (few) {
      // Looked up once more: registers are dearer meanwhile.
      arrived = load(tile_pair, messages, 0, m);
      worker_.write_back(m, arrived);
    } else {
      worker_.write_back();
    }
    if (!is_short && simt::thread_rank() == threads - 1) take_next(next);
    simt::sync_block();
    if (simt::thread_rank() == 0) {
      // Release: the barrier hands this thread what the block wrote.
      simt::fence_device();  // mutation: turn-release
      ref_.raise_turns(tile_pair);
    }
    return true;
  }

  /// Loads this thread's messages of the window that begins at `first`, with slots for ids. Returns
  /// bit k if `m[k]` is one.
  WARDEN_DEVICE unsigned load(scheduled_pair const& tile_pair, bin const& messages,
                              std::uint32_t first, message_type (&m)[rounds]) const {
    std::uint32_t const to_a = messages.to_a.end - messages.to_a.begin;
    std::uint32_t const left = messages.size() - first;
    std::uint32_t const end = first + (left < window() ? left : window());
    unsigned arrived = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
      std::uint32_t const i = first + k * threads + simt::thread_rank();
      if (i >= end) continue;
      arrived |= 1u << k;
      m[k] = ref_.bins.pool[i < to_a ? messages.to_a.begin + i : messages.to_b.begin + i - to_a];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
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
  simt::shared_span<upcoming> next_;  ///< by turns the tile pair that is played, and the next
};

}  // namespace detail
WARDEN_NAMESPACE_END
