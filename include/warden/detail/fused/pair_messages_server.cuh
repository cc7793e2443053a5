// SPDX-License-Identifier: Apache-2.0
/// @file
/// A server whose warps receive and execute independently. Some warps handle clients' messages and
/// some handle servers' messages, so each wait of a section lasts at most one warp's turn.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/pair_worker.cuh>
#include <warden/detail/fused/slice_reader.cuh>
#include <warden/detail/fused/slice_tracker.cuh>
#include <warden/detail/fused/termination_detector.cuh>
#include <warden/detail/fused/wait_outcome.cuh>
#include <warden/detail/fused/warp_credits.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Server `number` of a guarded array. Every thread of the block constructs one, and one `Worker`.
///
/// The warps of the ring never wait for credits or room: see docs/design/fused.md.
template <class Ref, class Worker>
class pair_messages_server {
 public:
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Indices that a warp reads at once.
  static constexpr unsigned slice = simt::warp_size;
  static_assert(threads >= 2 * slice,
                "warden: the executor pair_messages needs blocks of at least 64 threads");
  /// Few warps receive from clients. Messages in progress come before new ones, and with too many
  /// in progress sections on two records wait for each other.
  static constexpr unsigned client_warps = threads / slice < 16 ? 1 : threads / slice / 8;
  static constexpr unsigned ring_warps = threads / slice - client_warps;  ///< see client_warps
  /// Threads that a multiprocessor should hold. More threads would have too few registers each.
  static constexpr unsigned threads_per_multiprocessor = 768;
  /// Maximum of indices beyond `released` that are read in the ring.
  static constexpr std::uint32_t read_ahead = 64 * slice;
  /// Minimum of slots of a ring: one slice to read, and one for credits.
  static constexpr std::uint32_t least_ring = 2 * slice;
  /// Maximum of credits that a server keeps.
  static constexpr std::uint32_t most_kept = 2 * slice;
  static_assert(Ref::channel::in_band,
                "warden: sections that send sections need readiness::sequence_tags");
  static_assert(
      pair_worker<Worker, Ref>,
      "warden: the worker of a pair_messages_server lacks a member: see the concept pair_worker");

  /// Bytes of shared memory for a channel of `capacity` slots and `locals` records.
  static constexpr std::size_t shared_bytes(std::size_t capacity, std::size_t locals, unsigned) {
    return layout{capacity, locals}.carver.bytes();
  }

  /// Constructs a server. `storage` is shared memory of `shared_bytes(capacity, locals)` bytes, the
  /// same for the whole block.
  WARDEN_DEVICE pair_messages_server(Ref const& ref, std::uint32_t number, std::byte* storage)
      : pair_messages_server{
            ref, number, storage,
            layout{std::size_t{1} << ref.capacity_log2, ref.locals, ref.rings.read_ahead}} {}

  /// Serves until the work has ended or the launch is poisoned. Collective over the block.
  WARDEN_DEVICE void run() {
    worker_.start();
    clients_.start();
    ring_.start();
    if (simt::thread_rank() == 0) {
      credits_.start();
      ring_released_[0] = static_cast<std::uint32_t>(ring_.first() / slice);
      simt::store_relaxed(&clients_.channel().indices()->started.value, ref_.launch_number());
      simt::store_relaxed(&ring_.channel().indices()->started.value, ref_.launch_number());
    }
    simt::sync_block();
    serve();
    worker_.finish();
  }

 private:
  using ring_tracker = slice_tracker<typename Ref::ring>;
  using client_tracker = slice_tracker<typename Ref::channel>;
  struct layout {
    std::size_t capacity, locals;
    std::size_t ring_window = read_ahead;
    arena_carver carver{};
    arena_piece<std::byte> worker = carver.take<std::byte>(Worker::shared_bytes(locals));
    arena_piece<std::int32_t> credits = carver.take<std::int32_t>(1);
    arena_piece<std::uint32_t> ring_released = carver.take<std::uint32_t>(1);
    arena_piece<std::uint32_t> ring = carver.take<std::uint32_t>(ring_tracker::words(ring_window));
    arena_piece<std::uint32_t> clients =
        carver.take<std::uint32_t>(client_tracker::words(capacity));
  };

  WARDEN_DEVICE pair_messages_server(Ref const& ref, std::uint32_t number, std::byte* storage,
                                     layout const& at)
      : ref_{ref},
        number_{number},
        worker_{ref, number, storage},
        credits_{at.credits.in(storage)},
        ring_released_{at.ring_released.in(storage)},
        ring_{ref.rings.ring_of(number), at.ring.in(storage)},
        clients_{ref.channel_of(number), at.clients.in(storage)} {}

  /// Serves in one loop for the warps of both kinds, so that they run the same instructions.
  WARDEN_DEVICE void serve() {
    bool const serves_clients = simt::warp_rank() < client_warps;
    unsigned const warp = simt::warp_rank() - (serves_clients ? 0 : client_warps);
    worker_.prepare();
    slice_reader reader = serves_clients ? slice_reader{clients_, warp} : slice_reader{ring_, warp};
    std::uint64_t next_release = (serves_clients ? clients_.first() : ring_.first()) / slice;
    while (true) {
      typename Ref::message_type m;
      bool const arrived =
          serves_clients ? receive_from_clients(reader, m) : receive_from_servers(reader, m);
      unsigned batch = simt::ballot(simt::full_warp, arrived);
      unsigned const present = batch;
      if (serves_clients && present != 0) batch = admit(present);  // mutation: pair-credit
      if (batch == 0) {
        bool const goes_on = serves_clients
                                 ? wait_for_clients(reader, present != 0, warp == 0, next_release)
                                 : wait_for_servers(reader, warp == 0, next_release);
        if (!goes_on) break;
        continue;
      }
      execute(m, (batch >> simt::lane_id() & 1u) != 0);
      auto const count = static_cast<unsigned>(simt::count_bits(batch));
      if (serves_clients) {
        clients_.count_executed(count);
        reader.executed(clients_, batch, client_warps);
        if (warp == 0)
          next_release = clients_.release(ref_, next_release, clients_.worth_releasing());
      } else {
        ring_.count_executed(count);
        reader.executed(ring_, batch, ring_warps);
        if (warp == 0) next_release = release_ring(next_release, ring_.worth_releasing());
      }
    }
  }
  /// Runs the lanes' messages. Collective over the warp.
  WARDEN_DEVICE void execute(typename Ref::message_type& m, bool arrived) {
    // Acquire: the sender fenced between its writes and the message that this thread has just read.
    if constexpr (Ref::fences) simt::fence_device();
    unsigned const left = simt::warp_sum(worker_.run(m, arrived));
    if (simt::lane_id() == 0 && left != 0) credits_.give(ref_.rings, left);
  }

  // ---- messages of servers

  WARDEN_DEVICE bool receive_from_servers(slice_reader const& reader,
                                          typename Ref::message_type& m) const {
    // Loaded unconditionally: the loads are in progress before the bound is checked.
    bool const present = reader.receive(ring_, m);
    return present && may_read(reader.number());
  }
  /// Returns true if slice `number` of the ring may be read. A ring is never full as long as its
  /// server reads no further: see forward_rings.
  WARDEN_DEVICE bool may_read(std::uint64_t number) const {
    auto const ahead = static_cast<std::uint32_t>(number) - simt::shared_load(ring_released_[0]);
    return ahead < ref_.rings.read_ahead / slice;  // mutation: ring-bound
  }
  /// Waits, with the first lane, if no message has arrived. Collective over the warp. Returns false
  /// if the work has ended or the launch is poisoned.
  WARDEN_DEVICE bool wait_for_servers(slice_reader const& reader, bool releases,
                                      std::uint64_t& next_release) {
    auto mine = wait_outcome::go_on;
    if (simt::lane_id() == 0) {
      std::uint64_t const index = reader.number() * slice + reader.expecting();
      bool const alive = ref_.wait_until(
          [&] {
            return (ring_.channel().is_there(index) && may_read(reader.number())) ||
                   clients_.is_finished() || (releases && ring_.is_done(next_release));
          },
          [&](auto watch) {
            ring_.channel().watch_slot(index, watch);
            watch(&ring_released_[0]);
            watch(clients_.finish_word());
            watch(ring_.done_word(next_release));
          },
          wait_kind::message, number_, index);
      mine = outcome_of(alive, clients_.is_finished());
    }
    auto const all = outcome_of_lane(mine, 0);
    if (releases && all == wait_outcome::go_on) next_release = release_ring(next_release, 1);
    if (releases && all == wait_outcome::ended) ring_.finish();
    return all == wait_outcome::go_on;
  }
  /// Releases the completed slices of the ring from `next` on. Called by the first warp of the
  /// ring.
  WARDEN_DEVICE std::uint64_t release_ring(std::uint64_t next, unsigned least) const {
    std::uint64_t const released = ring_.release(ref_, next, least);
    if (simt::lane_id() == 0 && released != next)
      simt::shared_store(ring_released_[0], static_cast<std::uint32_t>(released));
    return released;
  }

  // ---- messages of clients

  WARDEN_DEVICE bool receive_from_clients(slice_reader const& reader,
                                          typename Ref::message_type& m) const {
    typename Ref::client_message sent;
    bool const present = reader.receive(clients_, sent);
    m = Ref::message_type::from(sent);
    return present;
  }
  /// Takes credits for the lanes in `present`. Returns the lanes that have one, as many as there
  /// are credits. Collective over the warp.
  WARDEN_DEVICE unsigned admit(unsigned present) const {
    unsigned credits = 0;
    if (simt::lane_id() == 0)
      credits = credits_.take(ref_.rings, static_cast<unsigned>(simt::count_bits(present)));
    credits = simt::shuffle(simt::full_warp, credits, 0);
    unsigned const before = present & ((1u << simt::lane_id()) - 1);
    return present &
           simt::ballot(simt::full_warp, static_cast<unsigned>(simt::count_bits(before)) < credits);
  }
  /// Waits, with the first lane, if no message has arrived or there are no credits for it.
  /// Collective over the warp. Returns false if the work has ended or the launch is poisoned.
  WARDEN_DEVICE bool wait_for_clients(slice_reader const& reader, bool for_credits, bool is_first,
                                      std::uint64_t& next_release) {
    auto mine = wait_outcome::go_on;
    if (simt::lane_id() == 0)
      mine = wait_as_one(reader.number() * slice + reader.expecting(), for_credits, is_first,
                         next_release);
    auto const all = outcome_of_lane(mine, 0);
    if (is_first && all == wait_outcome::go_on)
      next_release = clients_.release(ref_, next_release, 1);
    if (is_first && all == wait_outcome::ended) clients_.finish();
    return all == wait_outcome::go_on;
  }
  /// Waits as one lane. The first warp also looks for slices to release and for the end of work.
  /// While it is idle it gives its credits back to other servers.
  WARDEN_DEVICE wait_outcome wait_as_one(std::uint64_t index, bool for_credits, bool is_first,
                                         std::uint64_t next_release) {
    bool ended = false, again = false;
    bool const alive = ref_.wait_until(
        [&] {
          if (for_credits ? credits_.has_some(ref_.rings) : clients_.channel().is_there(index))
            return true;
          if (!is_first) return clients_.is_finished();
          if (clients_.is_done(next_release)) return true;
          if (for_credits) return false;
          if (again) credits_.empty(ref_.rings);  // mutation: credits-rest
          again = true;
          ended = detector_.has_ended(ref_, clients_.channel());
          return ended;
        },
        [&](auto watch) {
          clients_.channel().watch_slot(index, watch);
          watch(clients_.finish_word());
          watch(clients_.done_word(next_release));
          watch(&clients_.channel().indices()->executed.value);
          watch(credits_.word());
          termination_detector<Ref>::watch(ref_, watch);
        },
        wait_kind::message, number_, index);
    return outcome_of(alive, ended || clients_.is_finished());
  }

  Ref const& ref_;
  std::uint32_t number_;
  Worker worker_;
  warp_credits credits_;
  simt::shared_span<std::uint32_t> ring_released_;  ///< first slice not released
  ring_tracker ring_;
  client_tracker clients_;
  termination_detector<Ref> detector_;  ///< used by the first thread
};

}  // namespace detail
WARDEN_NAMESPACE_END
