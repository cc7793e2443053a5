// SPDX-License-Identifier: Apache-2.0
/// @file
/// A server whose warps receive and execute independently, a slice of 32 messages at a time, until
/// all clients are done and no message is left. [Wang 2020, listing 4.2]
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/slice_worker.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/slice_reader.cuh>
#include <warden/detail/fused/slice_tracker.cuh>
#include <warden/detail/fused/termination_detector.cuh>
#include <warden/detail/fused/wait_outcome.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Server `number` of a guarded array. Every thread of the block constructs one, and one `Worker`.
template <class Ref, class Worker>
class slice_server {
 public:
  /// Tracker of the channel's slices.
  using tracker = slice_tracker<typename Ref::channel>;
  /// Indices that a warp reads at once.
  static constexpr unsigned slice = tracker::slice;
  static_assert(Ref::channel::in_band,
                "warden: with readiness::bitmask the executor locks needs leader_server");
  static_assert(
      slice_worker<Worker, Ref>,
      "warden: the worker of a slice_server lacks a member: see the concept slice_worker");

  /// Bytes of shared memory for a channel of `capacity` slots and `locals` records.
  static constexpr std::size_t shared_bytes(std::size_t capacity, std::size_t locals, unsigned) {
    return layout{capacity, locals}.carver.bytes();
  }

  /// Constructs a server. `storage` is shared memory of `shared_bytes(capacity, locals)` bytes, the
  /// same for the whole block.
  WARDEN_DEVICE slice_server(Ref const& ref, std::uint32_t number, std::byte* storage)
      : ref_{ref},
        number_{number},
        worker_{ref, number, storage},
        tracker_{ref.channel_of(number),
                 layout{std::size_t{1} << ref.capacity_log2, ref.locals}.slices.in(storage)},
        next_release_{tracker_.first() / slice} {}

  /// Serves until the work has ended or the launch is poisoned. Collective over the block.
  WARDEN_DEVICE void run() {
    worker_.start();
    tracker_.start();
    if (simt::thread_rank() == 0) {
      simt::store_relaxed(&tracker_.channel().indices()->started.value, ref_.launch_number());
    }
    simt::sync_block();
    slice_reader reader{tracker_, simt::warp_rank()};
    while (true) {
      typename Ref::message_type m;
      bool const arrived = reader.receive(tracker_, m);
      unsigned const batch = simt::ballot(simt::full_warp, arrived);
      if (batch == 0) {
        if (!wait(reader.number(), reader.expecting())) break;
        continue;
      }
      if (!execute(m, arrived, batch)) break;
      reader.executed(tracker_, batch, Ref::policy::block_threads / slice);
      if (simt::warp_rank() == 0) release(tracker_.worth_releasing());
    }
    worker_.finish();
  }

 private:
  struct layout {
    std::size_t capacity, locals;
    arena_carver carver{};
    arena_piece<std::byte> worker = carver.take<std::byte>(Worker::shared_bytes(locals));
    arena_piece<std::uint32_t> slices = carver.take<std::uint32_t>(tracker::words(capacity));
  };

  /// Runs the sections of the lanes in `batch`. Collective over the warp. Returns false if the
  /// launch is poisoned.
  WARDEN_DEVICE bool execute(typename Ref::message_type const& m, bool arrived, unsigned batch) {
    // Acquire: the sender fenced between its writes and the message that this thread has just read.
    if constexpr (Ref::fences) simt::fence_device();  // mutation: slice-scope
    bool const ran = worker_.run(m, arrived);
    if (!ran) return false;
    tracker_.count_executed(static_cast<unsigned>(simt::count_bits(batch)));
    return true;
  }

  /// Waits, with one lane, for the slice's first missing message. Called if no message has arrived.
  /// Collective over the warp. Returns false if the work has ended or the launch is poisoned.
  WARDEN_DEVICE bool wait(std::uint64_t number, unsigned missing) {
    std::uint64_t const index = number * slice + missing;
    bool const first_warp = simt::warp_rank() == 0;
    wait_outcome mine = wait_outcome::go_on;
    if (simt::lane_id() == missing) {
      mine = first_warp ? wait_as_first_warp(index) : wait_as_other_warp(index);
    }
    auto const all = outcome_of_lane(mine, missing);
    if (first_warp && all == wait_outcome::go_on) release(1);
    if (first_warp && all == wait_outcome::ended) tracker_.finish();
    return all == wait_outcome::go_on;
  }

  WARDEN_DEVICE wait_outcome wait_as_other_warp(std::uint64_t index) const {
    bool const alive = ref_.wait_until(
        [&] { return tracker_.is_finished() || tracker_.channel().is_there(index); },
        [&](auto watch) {
          watch(tracker_.finish_word());
          tracker_.channel().watch_slot(index, watch);
        },
        wait_kind::message, number_, index);
    return outcome_of(alive, tracker_.is_finished());
  }

  /// Waits as the first warp, which also looks for slices to release and for the end of work.
  WARDEN_DEVICE wait_outcome wait_as_first_warp(std::uint64_t index) const {
    bool ended = false;
    bool const alive = ref_.wait_until(
        [&] {
          if (tracker_.channel().is_there(index) || tracker_.is_done(next_release_)) return true;
          ended = clients_have_ended(ref_, tracker_.channel());
          return ended;
        },
        [&](auto watch) {
          tracker_.channel().watch_slot(index, watch);
          watch(tracker_.done_word(next_release_));
          watch(&tracker_.channel().indices()->executed.value);
          watch(&ref_.launch.control->counters.client_blocks_done);
        },
        wait_kind::message, number_, index);
    return outcome_of(alive, ended);
  }

  WARDEN_DEVICE void release(unsigned least) {
    next_release_ = tracker_.release(ref_, next_release_, least);
  }

  Ref const& ref_;
  std::uint32_t number_;
  Worker worker_;
  tracker tracker_;
  std::uint64_t next_release_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
