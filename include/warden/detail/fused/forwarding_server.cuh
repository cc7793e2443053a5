// SPDX-License-Identifier: Apache-2.0
/// @file
/// A window_server whose sections send sections: each window is received from two places, from the
/// clients' channel as far as there are credits, and from the ring of the other servers always.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/fused/block_credits.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/termination_detector.cuh>
#include <warden/detail/fused/window_minimum.cuh>
#include <warden/detail/fused/window_reader.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Server `number` of a guarded array; every thread of the block makes one. A `Worker` is as in
/// window_server, but execute returns how many credits were spent, in all threads together: on
/// messages that were sent or set aside, less those that are no longer set aside.
template <class Ref, class Worker>
class forwarding_server {
 public:
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Messages of a thread in one window, at most: of the ring, and of clients.
  static constexpr unsigned from_servers = Worker::rounds / 2;
  static constexpr unsigned from_clients = Worker::rounds - from_servers;  ///< see from_servers
  /// Indices beyond `released` that are read in the ring, at most.
  static constexpr std::uint32_t read_ahead = 2 * threads * from_servers;
  /// Slots of a ring, at least.
  static constexpr std::uint32_t least_ring = 32;
  /// Threads that a multiprocessor is to hold: with less than 128 registers each they would spill.
  static constexpr unsigned threads_per_multiprocessor = 512;
  /// Credits that a server keeps, at most.
  static constexpr std::uint32_t most_kept = 2 * threads * from_clients;
  static_assert(Worker::rounds < 32, "warden: a window has 31 messages for each thread at most");
  static_assert(Ref::channel::in_band,
                "warden: sections that send sections need readiness::sequence_tags");

  /// Bytes of shared memory for `locals` records, whatever the capacity of the channel.
  static constexpr std::size_t shared_bytes(std::size_t, std::size_t locals, unsigned) {
    return layout{locals}.carver.bytes();
  }

  /// `storage` is shared memory of `shared_bytes(capacity, locals)` bytes, the same for the whole
  /// block.
  WARDEN_DEVICE forwarding_server(Ref const& ref, std::uint32_t number, std::byte* storage)
      : ref_{ref},
        channel_{ref.channel_of(number)},
        ring_{ref.rings.ring_of(number)},
        number_{number},
        worker_{ref, number, storage},
        progress_{layout{ref.locals}.shared.in(storage)} {}

  /// Collective over the block; returns when the work has ended or the launch is poisoned.
  WARDEN_DEVICE void run() {
    unsigned const me = simt::thread_rank();
    window_reader<typename Ref::channel, threads, from_clients> clients{channel_};
    window_reader<typename Ref::ring, threads, from_servers> servers{ring_};
    progress& shared = progress_[0];
    credit_request request;  // the first thread's
    worker_.start();
    if (me == 0) {
      shared.clients.start();
      shared.servers.start();
      shared.spent = 0;
      shared.stock = {clients.released(), servers.released()};
      shared.admitted = clients.released();
      simt::store_relaxed(&channel_.indices()->started.value, ref_.launch_number());
      simt::store_relaxed(&ring_.indices()->started.value, ref_.launch_number());
    }
    simt::sync_block();
    for (unsigned turn = 0;; turn = window_minimum::next(turn)) {
      typename Ref::message_type m[Worker::rounds];
      std::uint64_t const admitted = shared.admitted;  // mutation: forward-admitted
      std::uint64_t const end = servers.released() + ref_.rings.read_ahead;
      typename Ref::client_message sent[from_clients] = {};
      unsigned const arrived = clients.receive_below(sent, admitted) |
                               servers.receive_below(m + from_clients, end) << from_clients;
      WARDEN_UNROLL
      for (unsigned k = 0; k < from_clients; ++k) {
        if (arrived >> k & 1u) m[k] = Ref::message_type::from(sent[k]);
      }
      // Acquire: the senders fenced between what they wrote and the messages just read; the barrier
      // hands it to the threads that will execute them.
      if constexpr (Ref::fences) {
        if (arrived != 0) simt::fence_device();
      }
      worker_.take(m, arrived);
      shared.clients.note(turn, clients.ahead());
      shared.servers.note(turn, servers.ahead());
      bool const any = simt::sync_block_or(arrived != 0);
      std::uint64_t const clients_before = clients.released(), servers_before = servers.released();
      clients.release(shared.clients.get(turn));
      servers.release(shared.servers.get(turn));
      if (me == 0) {
        shared.clients.turn_over(turn);
        shared.servers.turn_over(turn);
        // The windows before this one have been executed, and what they sent is published.
        std::uint64_t const done_of_clients = any ? clients_before : clients.released();
        std::uint64_t const done_of_servers = any ? servers_before : servers.released();
        give_back(ref_, channel_, clients_before, clients.released(), done_of_clients);
        give_back(ref_, ring_, servers_before, servers.released(), done_of_servers);
        auto const spent = static_cast<std::int32_t>(simt::shared_exchange(shared.spent, 0u));
        shared.stock.executed(done_of_clients, done_of_servers, spent);
        if (any) {
          if constexpr (Ref::max_sends > 1) shared.stock.make_up(ref_.rings);
          shared.stock.admit(ref_.rings, request, clients.released(),
                             clients.released() != clients_before);
          shared.admitted = shared.stock.admitted();
        }
      }
      if (!any) {
        if (!wait(clients.released(), servers.released(), request)) break;
        continue;
      }
      unsigned const spent = worker_.execute(m, arrived);
      // As one number: what a warp takes off the common stock is never there without what it adds.
      unsigned const of_warp = simt::warp_sum(spent);
      if (simt::lane_id() == 0 && of_warp != 0) simt::shared_fetch_add(shared.spent, of_warp);
    }
    worker_.finish();
  }

 private:
  struct progress {
    std::uint64_t admitted;  ///< of the stock
    block_credits stock;     ///< the first thread's
    window_minimum clients;  ///< smallest index that any thread expects, counted from `released`
    window_minimum servers;  ///< the same of the ring
    std::uint32_t spent;     ///< credits, by the window before, two's complement
  };
  struct layout {
    std::size_t locals;
    arena_carver carver{};
    arena_piece<std::byte> worker =
        carver.take<std::byte>(Worker::shared_bytes(locals, Worker::rounds));
    arena_piece<progress> shared = carver.take<progress>(1);
  };

  /// Nothing has arrived: one thread waits for the oldest missing message of either kind.
  /// Collective. False when the work has ended or the launch is poisoned.
  WARDEN_DEVICE bool wait(std::uint64_t of_clients, std::uint64_t of_servers,
                          credit_request& request) {
    bool stops = false;
    if (simt::thread_rank() == 0) {
      // Who rests holds no credits that others could want.
      block_credits& stock = progress_[0].stock;
      stock.rest(ref_.rings, request);
      bool ended = false;
      bool const alive = ref_.wait_until(
          [&] {
            bool const of_client = channel_.is_there(of_clients);
            if (of_client && stock.try_admit(ref_.rings)) return true;
            if (ring_.is_there(of_servers)) return true;
            ended = !of_client && detector_.has_ended(ref_, channel_);
            return ended;
          },
          [&](auto watch) {
            channel_.watch_slot(of_clients, watch);
            ring_.watch_slot(of_servers, watch);
            termination_detector<Ref>::watch(ref_, watch);
          },
          wait_kind::message, number_, of_clients);
      progress_[0].admitted = stock.admitted();
      stops = ended || !alive;
    }
    return !simt::sync_block_or(stops);
  }

  Ref const& ref_;
  typename Ref::channel channel_;
  typename Ref::ring ring_;
  std::uint32_t number_;
  Worker worker_;
  simt::shared_span<progress> progress_;
  termination_detector<Ref> detector_;  ///< the first thread's
};

}  // namespace detail
WARDEN_NAMESPACE_END
