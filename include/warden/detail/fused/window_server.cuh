// SPDX-License-Identifier: Apache-2.0
/// @file
/// A server whose block receives a window of messages at once and executes it together, until all
/// clients are done and no message is left.
///
/// Each thread receives its part (see window_reader). Slots of messages that all threads have
/// passed are given back to the senders as soon as the block holds the messages itself, before it
/// executes them.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/window_worker.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/termination_detector.cuh>
#include <warden/detail/fused/window_minimum.cuh>
#include <warden/detail/fused/window_reader.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Server `number` of a guarded array. Every thread of the block constructs one, and one `Worker`.
template <class Ref, class Worker>
class window_server {
 public:
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  static_assert(
      Ref::channel::in_band,
      "warden: this executor needs readiness::sequence_tags; for readiness::bitmask use locks with "
      "leader_server");
  static_assert(
      window_worker<Worker, Ref>,
      "warden: the worker of a window_server lacks a member: see the concept window_worker");

  /// Bytes of shared memory for `locals` records and windows halved `halvings` times, independent
  /// of the capacity of the channel.
  static constexpr std::size_t shared_bytes(std::size_t, std::size_t locals, unsigned halvings) {
    return layout{Worker::shared_bytes(locals, Ref::halved(Worker::per_thread, halvings))}
        .carver.bytes();
  }

  /// Constructs a server. `storage` is shared memory of `shared_bytes(capacity, locals,
  /// ref.window_halvings)` bytes, the same for the whole block.
  WARDEN_DEVICE window_server(Ref const& ref, std::uint32_t number, std::byte* storage)
      : ref_{ref},
        channel_{ref.channel_of(number)},
        number_{number},
        worker_{ref, number, layout{}.worker.in(storage).data()},
        received_{layout{}.received.in(storage)} {}

  /// Serves until the work has ended or the launch is poisoned. Collective over the block.
  WARDEN_DEVICE void run() {
    unsigned const me = simt::thread_rank();
    window_reader<typename Ref::channel, threads, Worker::per_thread> reader{channel_};
    worker_.start();
    if (me == 0) {
      received_[0].start();
      simt::store_relaxed(&channel_.indices()->started.value, ref_.launch_number());
    }
    simt::sync_block();
    for (unsigned turn = 0;; turn = window_minimum::next(turn)) {
      typename Ref::message_type m[Worker::per_thread];
      unsigned const arrived = reader.receive(m, ref_.window_per_thread(Worker::per_thread));
      // Acquire: the senders fenced between their writes and the messages just read. The barrier
      // hands that to the threads that execute the messages.
      if constexpr (Ref::fences) {
        if (arrived != 0) simt::fence_device();  // mutation: receive-fence
      }
      worker_.take(m, arrived);
      // `ahead` is below the capacity and a window.
      received_[0].note(turn, reader.ahead());
      bool const any = simt::sync_block_or(arrived != 0);
      std::uint64_t const before = reader.released();
      reader.release(received_[0].get(turn));  // mutation: window-release
      if (me == 0) {
        received_[0].turn_over(turn);
        // The windows before this one have been executed: all threads came to the barrier. Messages
        // received after a missing index are not counted yet.
        give_back(ref_, channel_, before, reader.released(), any ? before : reader.released());
      }
      if (!any) {
        if (!wait(reader.released())) break;
        continue;
      }
      worker_.execute(m, arrived);
    }
    worker_.finish();
  }

 private:
  struct layout {
    std::size_t worker_bytes = 0;
    arena_carver carver{};
    arena_piece<window_minimum> received = carver.take<window_minimum>(1);
    // Last, because its size is known only at run time.
    arena_piece<std::byte> worker = carver.take<std::byte>(worker_bytes, arena_alignment);
  };

  /// Waits, with one thread, for the oldest missing message. Called if no message has arrived.
  /// Collective. Returns false if the work has ended or the launch is poisoned.
  WARDEN_DEVICE bool wait(std::uint64_t oldest) const {
    bool stops = false;
    if (simt::thread_rank() == 0) {
      bool ended = false;
      bool const alive = ref_.wait_until(
          [&] {
            if (channel_.is_there(oldest)) return true;
            ended = clients_have_ended(ref_, channel_);
            return ended;
          },
          [&](auto watch) {
            channel_.watch_slot(oldest, watch);
            watch(&ref_.launch.control->counters.client_blocks_done);
          },
          wait_kind::message, number_, oldest);
      stops = ended || !alive;
    }
    return !simt::sync_block_or(stops);
  }

  Ref const& ref_;
  typename Ref::channel channel_;
  std::uint32_t number_;
  Worker worker_;
  /// Smallest index that any thread expects, counted from `released`.
  simt::shared_span<window_minimum> received_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
