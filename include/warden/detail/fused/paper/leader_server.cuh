// SPDX-License-Identifier: Apache-2.0
/// @file
/// A server whose first warp, the leader, reads the channel's bit-mask and hands slices of messages
/// to the other warps, the followers, which read and execute them. [Wang 2020, section 4.3.2 and
/// figure 4.4]
///
/// The leader looks at 1,024 slots at a time, a word of the bit-mask for each of its lanes. It
/// remembers the words as far as it has handed their messages out: bits that differ are new
/// messages. The new messages of a slice go to one follower, by an assignment buffer in shared
/// memory.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/slice_worker.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/paper/bitmask_channel.cuh>
#include <warden/detail/fused/slice_tracker.cuh>
#include <warden/detail/fused/termination_detector.cuh>
#include <warden/detail/fused/wait_outcome.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Server `number` of a guarded array. Every thread of the block constructs one, and one `Worker`.
template <class Ref, class Worker>
class leader_server {
 public:
  /// Tracker of the channel's slices.
  using tracker = slice_tracker<typename Ref::channel>;
  /// Indices that a follower reads at once.
  static constexpr unsigned slice = tracker::slice;
  /// Warps that execute.
  static constexpr unsigned followers = Ref::policy::block_threads / simt::warp_size - 1;
  static_assert(
      !Ref::channel::in_band,
      "warden: a leader warp reads readiness::bitmask; sequence tags are in the messages");
  static_assert(followers != 0, "warden: a leader warp and a follower need 64 block_threads");
  static_assert(
      slice_worker<Worker, Ref>,
      "warden: the worker of a leader_server lacks a member: see the concept slice_worker");

  /// Bytes of shared memory for a channel of `capacity` slots and `locals` records.
  static constexpr std::size_t shared_bytes(std::size_t capacity, std::size_t locals, unsigned) {
    return layout{capacity, locals}.carver.bytes();
  }

  /// Constructs a server. `storage` is shared memory of `shared_bytes(capacity, locals)` bytes, the
  /// same for the whole block.
  WARDEN_DEVICE leader_server(Ref const& ref, std::uint32_t number, std::byte* storage)
      : leader_server{ref, number, storage,
                      layout{std::size_t{1} << ref.capacity_log2, ref.locals}} {}

  /// Serves until the work has ended or the launch is poisoned. Collective over the block.
  WARDEN_DEVICE void run() {
    worker_.start();
    tracker_.start();
    for (unsigned i = simt::thread_rank(); i < slices(); i += simt::block_threads()) {
      handed_[i] = tracker_.channel().ready_before(i, tracker_.first());
      // Some messages of the slice in which the launch begins may have run in an earlier launch.
      bool const begins = i == position(tracker_.first() / slice);
      executed_[i] = begins ? static_cast<std::uint32_t>(tracker_.first() % slice) : 0;
    }
    if (simt::thread_rank() < followers) {
      given_[simt::thread_rank()] = taken_[simt::thread_rank()] = 0;
    }
    if (simt::thread_rank() == 0) {
      simt::store_relaxed(&tracker_.channel().indices()->started.value, ref_.launch_number());
    }
    simt::sync_block();
    if (simt::warp_rank() == 0) {
      lead();
    } else {
      follow(simt::warp_rank() - 1);
    }
    worker_.finish();
  }

 private:
  /// Assignment to a follower: the messages of these lanes of slice `number`.
  struct assignment {
    std::uint64_t number;
    std::uint32_t lanes;
  };
  /// Assignment buffers of a follower. With 2, the next one is filled when it has executed the
  /// first.
  static constexpr unsigned depth = 2;
  /// Words of the bit-mask that an idle leader polls.
  static constexpr unsigned polled = 4;

  struct layout {
    std::size_t capacity, locals;
    arena_carver carver{};
    arena_piece<std::byte> worker = carver.take<std::byte>(Worker::shared_bytes(locals));
    arena_piece<assignment> assignments = carver.take<assignment>(depth * followers);
    arena_piece<std::uint32_t> given = carver.take<std::uint32_t>(followers);
    arena_piece<std::uint32_t> taken = carver.take<std::uint32_t>(followers);
    arena_piece<std::uint32_t> handed = carver.take<std::uint32_t>(capacity / slice);
    arena_piece<std::uint32_t> executed = carver.take<std::uint32_t>(capacity / slice);
    arena_piece<std::uint32_t> slices = carver.take<std::uint32_t>(tracker::words(capacity));
  };

  WARDEN_DEVICE leader_server(Ref const& ref, std::uint32_t number, std::byte* storage,
                              layout const& at)
      : ref_{ref},
        number_{number},
        worker_{ref, number, storage},
        tracker_{ref.channel_of(number), at.slices.in(storage)},
        assignments_{at.assignments.in(storage)},
        given_{at.given.in(storage)},
        taken_{at.taken.in(storage)},
        handed_{at.handed.in(storage)},
        executed_{at.executed.in(storage)},
        next_release_{tracker_.first() / slice} {}

  WARDEN_DEVICE unsigned slices() const {
    return static_cast<unsigned>(tracker_.channel().capacity() / slice);
  }
  WARDEN_DEVICE unsigned position(std::uint64_t number) const {
    return static_cast<unsigned>(number) & (slices() - 1);
  }

  // ---- the leader

  /// Leads until the work has ended or the launch is poisoned. Collective over the first warp.
  WARDEN_DEVICE void lead() {
    // The oldest slice that is not handed out completely.
    std::uint64_t oldest = tracker_.first() / slice;
    while (true) {
      // The leader looks for work only when many followers are free. Each look that finds work
      // costs a fence, and with it the multiprocessor's L1, which holds the followers' records.
      unsigned free = free_followers();
      bool const many_free = are_many(simt::count_bits(free));
      std::uint64_t const number = oldest + simt::lane_id();
      bool const looks = many_free && simt::lane_id() < window() && is_free(number);
      std::uint32_t const new_ones = looks ? fresh(number) : 0;
      // Acquire, by each lane that has seen changed bits. The same lane hands the messages on.
      if (new_ones != 0) simt::fence_device();
      unsigned work = simt::ballot(simt::full_warp, new_ones != 0);
      bool const hands_out = work != 0;
      for (; work != 0 && free != 0; work &= work - 1, free &= free - 1) {
        if (simt::lane_id() != static_cast<unsigned>(simt::first_bit(work))) continue;
        assign(static_cast<unsigned>(simt::first_bit(free)), number, new_ones);
      }
      simt::sync_warp(simt::full_warp);
      bool const complete =
          looks && handed_[position(number)] == tracker_.channel().all_ready(number);
      unsigned const incomplete = ~simt::ballot(simt::full_warp, complete);
      oldest += incomplete == 0 ? window() : static_cast<unsigned>(simt::first_bit(incomplete));
      release(tracker_.worth_releasing());
      if (!hands_out && !wait(oldest, many_free)) return;
    }
  }

  /// Returns the number of slices that the leader looks at together: at most all slots of the
  /// channel.
  WARDEN_DEVICE unsigned window() const {
    return slices() < simt::warp_size ? slices() : simt::warp_size;
  }
  /// Returns true if the place of slice `number` no longer belongs to the slice one window of slots
  /// before it. If a launch begins within a slice, messages of the next pass over the slots are
  /// there before all messages of this slice have run.
  WARDEN_DEVICE bool is_free(std::uint64_t number) const {
    return number < next_release_ + slices();  // mutation: leader-place
  }
  /// Returns the messages of slice `number`, one of the window, that were published and not handed
  /// out. No slot is published again before it was released, so a bit that differs is a message of
  /// this slice. The exception is the slice in which the launch begins: the slots whose messages an
  /// earlier launch has executed may already hold messages of the next pass over the slots.
  WARDEN_DEVICE std::uint32_t fresh(std::uint64_t number) const {
    std::uint32_t const bits = tracker_.channel().ready(number) ^ handed_[position(number)];
    return number == tracker_.first() / slice
               ? bits >> tracker_.first() % slice << tracker_.first() % slice
               : bits;
  }

  /// Returns the followers with an empty assignment buffer, as bits. Collective over the warp.
  WARDEN_DEVICE unsigned free_followers() const {
    bool const is_free = simt::lane_id() < followers && has_room(simt::lane_id());
    // Acquire: the follower had read its assignment before it raised `taken_`.
    simt::fence_block();
    unsigned const free = simt::ballot(simt::full_warp, is_free);
    simt::sync_warp(simt::full_warp);
    return free;
  }
  WARDEN_DEVICE bool has_room(unsigned follower) const {
    std::uint32_t const given = simt::shared_load(given_[follower]);
    return given - simt::shared_load(taken_[follower]) < depth;  // mutation: assignment
  }

  /// Hands out messages. Called by the lane that has seen them.
  WARDEN_DEVICE void assign(unsigned follower, std::uint64_t number, std::uint32_t lanes) const {
    std::uint32_t const given = given_[follower];
    assignments_[follower * depth + given % depth] = {number, lanes};
    handed_[position(number)] ^= lanes;  // mutation: leader-handed
    simt::fence_block();
    simt::shared_store(given_[follower], given + 1);
  }

  /// Waits, with one lane, if nothing could be handed out. Without `many_free` the cause is a lack
  /// of free followers. Collective over the warp. Returns false if the work has ended or the launch
  /// is poisoned.
  WARDEN_DEVICE bool wait(std::uint64_t oldest, bool many_free) {
    wait_outcome mine = wait_outcome::go_on;
    if (simt::lane_id() == 0) mine = wait_alone(oldest, many_free);
    auto const all = outcome_of_lane(mine, 0);
    if (all == wait_outcome::go_on) release(1);
    if (all == wait_outcome::ended) tracker_.finish();
    return all == wait_outcome::go_on;
  }

  WARDEN_DEVICE wait_outcome wait_alone(std::uint64_t oldest, bool many_free) const {
    auto const& channel = tracker_.channel();
    std::uint32_t const missing = handed_[position(oldest)] ^ channel.all_ready(oldest);
    bool ended = false;
    bool const alive = ref_.wait_until(
        [&] {
          if (tracker_.is_done(next_release_)) return true;
          if (!many_free) return many_followers_are_free();
          for (unsigned i = 0; i < polled && i < window(); ++i) {
            if (is_free(oldest + i) && fresh(oldest + i) != 0) return true;
          }
          ended = clients_have_ended(ref_, channel);
          return ended;
        },
        [&](auto watch) {
          watch(tracker_.done_word(next_release_));
          for (unsigned f = 0; f < followers; ++f) watch(&taken_[f]);
          for (unsigned i = 0; i < polled; ++i) watch(channel.ready_word(oldest + i));
          watch(&channel.indices()->executed.value);
          watch(&ref_.launch.control->counters.client_blocks_done);
        },
        wait_kind::message, number_,
        oldest * slice + static_cast<unsigned>(simt::first_bit(missing)));
    return outcome_of(alive, ended);
  }
  WARDEN_DEVICE bool many_followers_are_free() const {
    int free = 0;
    for (unsigned f = 0; f < followers; ++f) free += has_room(f) ? 1 : 0;
    return are_many(free);
  }
  WARDEN_DEVICE static bool are_many(int free) { return 2 * free >= static_cast<int>(followers); }

  WARDEN_DEVICE void release(unsigned least) {
    next_release_ = tracker_.release(ref_, next_release_, least);
  }

  // ---- the followers

  /// Follows until the work has ended or the launch is poisoned. Collective over a warp.
  WARDEN_DEVICE void follow(unsigned me) {
    for (std::uint32_t taken = 0;; ++taken) {
      bool const stops = simt::lane_id() == 0 && !wait_for_assignment(me, taken);
      if (simt::any(simt::full_warp, stops)) return;
      // Acquire, through the leader's lane: the assignment, and the messages that the leader has
      // seen. The warp barrier hands them to all lanes.
      simt::fence_block();
      simt::sync_warp(simt::full_warp);
      assignment const mine = assignments_[me * depth + taken % depth];
      simt::sync_warp(simt::full_warp);  // mutation: leader-read
      if (simt::lane_id() == 0) {
        simt::fence_block();
        simt::shared_store(taken_[me], taken + 1);
      }
      auto const m = tracker_.channel().read(mine.number * slice + simt::lane_id());
      bool const arrived = (mine.lanes >> simt::lane_id() & 1u) != 0;
      if (!worker_.run(m, arrived)) return;
      finish(mine);
    }
  }

  /// Waits for an assignment. Returns false if the work has ended or the launch is poisoned. Called
  /// by one lane.
  WARDEN_DEVICE bool wait_for_assignment(unsigned me, std::uint32_t taken) const {
    bool const alive = ref_.wait_until(
        [&] { return simt::shared_load(given_[me]) != taken || tracker_.is_finished(); },
        [&](auto watch) {
          watch(&given_[me]);
          watch(tracker_.finish_word());
        },
        wait_kind::message, number_, tracker_.first());
    // The work does not end while any message is assigned.
    return alive && !tracker_.is_finished();
  }

  /// Notes that the sections of an assignment have run. Collective over the warp.
  WARDEN_DEVICE void finish(assignment const& mine) const {
    auto const count = static_cast<std::uint32_t>(simt::count_bits(mine.lanes));
    tracker_.count_executed(count);
    if (simt::lane_id() != 0) return;
    // Release and acquire: all lanes have loaded their messages, by the barrier in count_executed.
    // The thread that executes the rest of a slice marks it for all.
    simt::fence_block();
    std::uint32_t& executed = executed_[position(mine.number)];
    if (simt::shared_fetch_add(executed, count) + count != slice) return;  // mutation: leader-done
    // The slice's place is not used before it is released.
    simt::shared_store(executed, 0u);
    simt::fence_block();
    tracker_.mark_done(mine.number);
  }

  Ref const& ref_;
  std::uint32_t number_;
  Worker worker_;
  tracker tracker_;
  simt::shared_span<assignment> assignments_;  ///< [follower][depth]
  simt::shared_span<std::uint32_t> given_;     ///< [follower] assignments given to the follower
  simt::shared_span<std::uint32_t> taken_;   ///< [follower] assignments that the follower has read
  simt::shared_span<std::uint32_t> handed_;  ///< [slice] the bit-mask, as far as handed out
  simt::shared_span<std::uint32_t> executed_;  ///< [slice] messages executed of this slice
  std::uint64_t next_release_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
