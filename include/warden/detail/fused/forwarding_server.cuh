// SPDX-License-Identifier: Apache-2.0
/// @file
/// A window_server whose sections send sections. It receives each window from two sources: the
/// clients' channel, as far as there are credits, and the ring of the other servers, always.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/window_worker.cuh>
#include <warden/detail/fused/block_credits.cuh>
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
class forwarding_server {
 public:
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Maximum of ring messages that a thread has in one window.
  static constexpr unsigned from_servers = Worker::per_thread / 2;
  static constexpr unsigned from_clients =
      Worker::per_thread -
      from_servers;  ///< maximum of client messages that a thread has in one window
  /// Maximum of indices beyond `released` that are read in the ring.
  static constexpr std::uint32_t read_ahead = 2 * threads * from_servers;
  /// Minimum of slots of a ring.
  static constexpr std::uint32_t least_ring = 32;
  /// Threads that a multiprocessor should hold. With less than 128 registers each, threads would
  /// spill.
  static constexpr unsigned threads_per_multiprocessor = 512;
  /// Maximum of credits that a server keeps.
  static constexpr std::uint32_t most_kept = 2 * threads * from_clients;
  static_assert(Worker::per_thread < 32,
                "warden: a window has at most 31 messages for each thread");
  static_assert(Ref::channel::in_band,
                "warden: sections that send sections need readiness::sequence_tags");
  static_assert(forwarding_worker<Worker, Ref>,
                "warden: the worker of a forwarding_server lacks a member: see the concept "
                "forwarding_worker");

  /// Bytes of shared memory for `locals` records, independent of the capacity of the channel.
  static constexpr std::size_t shared_bytes(std::size_t, std::size_t locals, unsigned) {
    return layout{locals}.carver.bytes();
  }

  /// Constructs a server. `storage` is shared memory of `shared_bytes(capacity, locals)` bytes, the
  /// same for the whole block.
  WARDEN_DEVICE forwarding_server(Ref const& ref, std::uint32_t number, std::byte* storage)
      : ref_{ref},
        channel_{ref.channel_of(number)},
        ring_{ref.rings.ring_of(number)},
        number_{number},
        worker_{ref, number, storage},
        progress_{layout{ref.locals}.shared.in(storage)} {}

  /// Serves until the work has ended or the launch is poisoned. Collective over the block.
  WARDEN_DEVICE void run() {
    unsigned const me = simt::thread_rank();
    window_reader<typename Ref::channel, threads, from_clients> clients{channel_};
    window_reader<typename Ref::ring, threads, from_servers> servers{ring_};
    progress& shared = progress_[0];
    credit_request request;  // used by the first thread
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
      typename Ref::message_type m[Worker::per_thread];
      std::uint64_t const admitted = shared.admitted;  // mutation: forward-admitted
      std::uint64_t const end = servers.released() + ref_.rings.read_ahead;
      typename Ref::client_message sent[from_clients] = {};
      unsigned const arrived = clients.receive_below(sent, admitted) |
                               servers.receive_below(m + from_clients, end) << from_clients;
      WARDEN_UNROLL
      for (unsigned k = 0; k < from_clients; ++k) {
        if (arrived >> k & 1u) m[k] = Ref::message_type::from(sent[k]);
      }
      // Acquire: the senders fenced between their writes and the messages just read. The barrier
      // hands that to the threads that execute the messages.
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
        // The windows before this one have been executed, and the messages that they sent are
        // published.
        std::uint64_t const clients_done = any ? clients_before : clients.released();
        std::uint64_t const servers_done = any ? servers_before : servers.released();
        give_back(ref_, channel_, clients_before, clients.released(), clients_done);
        give_back(ref_, ring_, servers_before, servers.released(), servers_done);
        auto const spent = static_cast<std::int32_t>(simt::shared_exchange(shared.spent, 0u));
        shared.stock.executed(clients_done, servers_done, spent);
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
      // Added as one number: the count never contains a warp's spent credits without its gained
      // ones.
      unsigned const warp_total = simt::warp_sum(spent);
      if (simt::lane_id() == 0 && warp_total != 0) simt::shared_fetch_add(shared.spent, warp_total);
    }
    worker_.finish();
  }

 private:
  struct progress {
    std::uint64_t admitted;  ///< admitted() of the stock
    block_credits stock;     ///< used by the first thread
    window_minimum clients;  ///< smallest index that a thread expects, from `released` on
    window_minimum servers;  ///< smallest index of the ring, likewise
    std::uint32_t spent;     ///< credits spent by the window before, two's complement
  };
  struct layout {
    std::size_t locals;
    arena_carver carver{};
    arena_piece<std::byte> worker =
        carver.take<std::byte>(Worker::shared_bytes(locals, Worker::per_thread));
    arena_piece<progress> shared = carver.take<progress>(1);
  };

  /// Waits, with one thread, for the oldest missing message of either source. Called if nothing has
  /// arrived. Collective over the block. Returns false if the work has ended or the launch is
  /// poisoned.
  WARDEN_DEVICE bool wait(std::uint64_t client_index, std::uint64_t server_index,
                          credit_request& request) {
    bool stops = false;
    if (simt::thread_rank() == 0) {
      // A resting server holds no credits that others could use.
      block_credits& stock = progress_[0].stock;
      stock.rest(ref_.rings, request);
      bool ended = false;
      bool const alive = ref_.wait_until(
          [&] {
            bool const has_client_message = channel_.is_there(client_index);
            if (has_client_message && stock.try_admit(ref_.rings)) return true;
            if (ring_.is_there(server_index)) return true;
            ended = !has_client_message && detector_.has_ended(ref_, channel_);
            return ended;
          },
          [&](auto watch) {
            channel_.watch_slot(client_index, watch);
            ring_.watch_slot(server_index, watch);
            termination_detector<Ref>::watch(ref_, watch);
          },
          wait_kind::message, number_, client_index);
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
  termination_detector<Ref> detector_;  ///< used by the first thread
};

}  // namespace detail
WARDEN_NAMESPACE_END
