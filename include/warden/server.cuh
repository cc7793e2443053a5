// SPDX-License-Identifier: Apache-2.0
/// @file
/// The server: a thread block that receives the messages of its channel and executes their sections
/// until all clients are done and nothing is left. (papers/002, listing 4.2)
#pragma once

#include <warden/guarded_ref.cuh>
#include <warden/inbox.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Server `number` of a guarded; every thread of the block makes one.
template <class Ref>
class server {
 public:
  /// How it runs the sections it received.
  using executor = typename Ref::policy::executor;
  /// Indices that a warp reads at once.
  static constexpr unsigned slice = inbox<Ref>::slice;

  /// Bytes of shared memory for a channel of `capacity` slots.
  static constexpr std::size_t shared_bytes(std::size_t capacity) {
    return executor::shared_bytes + inbox<Ref>::shared_bytes(capacity);
  }

  /// `storage` is shared memory of `shared_bytes(capacity)` bytes, the same for the whole block.
  WARDEN_DEVICE server(Ref const& ref, std::uint32_t number, std::byte* storage)
      : ref_{ref},
        number_{number},
        locks_{simt::shared_span<std::uint32_t>{reinterpret_cast<std::uint32_t*>(storage),
                                                executor::shared_bytes / sizeof(std::uint32_t)}},
        inbox_{ref, number, storage + executor::shared_bytes},
        next_release_{inbox_.first() / slice} {}

  /// Collective over the block; returns when the work has ended or the launch is poisoned.
  WARDEN_DEVICE void run() {
    locks_.clear();
    inbox_.start();
    if (simt::thread_rank() == 0) {
      simt::store_relaxed(&inbox_.channel().indices()->started.value, ref_.launch_number);
    }
    simt::sync_block();
    unsigned const warps = Ref::policy::block_threads / slice;
    std::uint64_t number = inbox_.first() / slice + simt::warp_rank();
    unsigned executed = executed_before(number);
    while (true) {
      // Receive: each lane looks at its slot of the slice.
      typename Ref::message_type m;
      bool const there = inbox_.channel().receive(number * slice + simt::lane_id(), m);
      bool const arrived = there && (executed >> simt::lane_id() & 1u) == 0;
      unsigned const batch = simt::ballot(simt::full_warp, arrived);
      if (batch == 0) {
        if (!wait(number, executed)) break;
        continue;
      }
      if (!execute(m, arrived, batch)) break;
      executed |= batch;
      if (executed == simt::full_warp) {
        if (simt::lane_id() == 0) inbox_.mark_done(number);
        number += warps;
        executed = 0;
      }
      if (simt::warp_rank() == 0) release(inbox_.worth_releasing());
    }
    if constexpr (Ref::policy::statistics) {
      if (retries_ != 0) simt::fetch_add(&ref_.report->totals.retries, std::uint64_t{retries_});
    }
  }

 private:
  /// The lanes of the first slice whose messages ran in an earlier launch.
  WARDEN_DEVICE unsigned executed_before(std::uint64_t number) const {
    bool const is_first = number == inbox_.first() / slice;
    return is_first ? (1u << (inbox_.first() % slice)) - 1 : 0;
  }

  /// Runs the sections of the lanes in `batch`. Collective over the warp. False once poisoned.
  WARDEN_DEVICE bool execute(typename Ref::message_type const& m, bool arrived, unsigned batch) {
    // Acquire: the sender fenced between what it wrote and the message that we have just read.
    if constexpr (Ref::fences) simt::fence_device();
    bool const ran = executor::run(
        locks_, m.local(), arrived, [&] { ref_.execute(number_, m); },
        [&](unsigned lock) {
          return ref_.wait_until([&] { return locks_.is_free(lock); },
                                 [&](auto watch) { watch(locks_.word(lock)); }, wait_kind::lock,
                                 number_, lock);
        },
        retries_);
    if (!ran) return false;
    // The lanes' loads of the slots come before the mark that gives the slots back: barrier, then
    // the fence of the lane that marks. The count is for the end of work and the watchdog only, so
    // it is relaxed: what the sections wrote is handed on by the locks, and to the host by the end
    // of the kernel.
    simt::sync_warp(simt::full_warp);
    if (simt::lane_id() == 0) {
      simt::fence_block();
      simt::fetch_add(&inbox_.channel().indices()->executed.value,
                      static_cast<std::uint64_t>(simt::count_bits(batch)));
    }
    return true;
  }

  enum class outcome : unsigned { go_on, ended, poisoned };

  /// Nothing has arrived: one lane waits for the slice's first missing message, the others for it.
  /// Collective over the warp. False when the work has ended or the launch is poisoned.
  WARDEN_DEVICE bool wait(std::uint64_t number, unsigned executed) {
    auto const missing = static_cast<unsigned>(simt::first_bit(~executed));
    std::uint64_t const index = number * slice + missing;
    bool const first_warp = simt::warp_rank() == 0;
    outcome mine = outcome::go_on;
    if (simt::lane_id() == missing) {
      mine = first_warp ? wait_as_first_warp(index) : wait_as_other_warp(index);
    }
    auto const all =
        static_cast<outcome>(simt::shuffle(simt::full_warp, static_cast<unsigned>(mine), missing));
    if (first_warp && all == outcome::go_on) release(1);
    if (first_warp && all == outcome::ended) inbox_.finish();
    return all == outcome::go_on;
  }

  WARDEN_DEVICE outcome wait_as_other_warp(std::uint64_t index) const {
    bool const alive = ref_.wait_until([&] { return inbox_.is_finished() || is_there(index); },
                                       [&](auto watch) {
                                         watch(inbox_.finish_word());
                                         inbox_.channel().watch_slot(index, watch);
                                       },
                                       wait_kind::message, number_, index);
    if (!alive) return outcome::poisoned;
    return inbox_.is_finished() ? outcome::ended : outcome::go_on;
  }

  /// The first warp also looks for slices to release and for the end of work.
  WARDEN_DEVICE outcome wait_as_first_warp(std::uint64_t index) const {
    bool ended = false;
    bool const alive = ref_.wait_until(
        [&] {
          if (is_there(index) || inbox_.is_done(next_release_)) return true;
          ended = work_has_ended();
          return ended;
        },
        [&](auto watch) {
          inbox_.channel().watch_slot(index, watch);
          watch(inbox_.done_word(next_release_));
          watch(&inbox_.channel().indices()->executed.value);
          watch(&ref_.frame.control->counters.client_blocks_done);
        },
        wait_kind::message, number_, index);
    if (!alive) return outcome::poisoned;
    return ended ? outcome::ended : outcome::go_on;
  }

  /// Clients first: only when all are done is `reserved` final, and only then does it mean
  /// something that as many were executed.
  WARDEN_DEVICE bool work_has_ended() const {
    channel_indices* const indices = inbox_.channel().indices();
    bool const clients_done =
        simt::load_relaxed(&ref_.frame.control->counters.client_blocks_done) ==
        ref_.frame.client_blocks;  // sabotage: end-of-work
    if (!clients_done) return false;
    // Acquire, once: the client blocks reserved before they counted themselves done.
    simt::fence_device();
    return simt::load_relaxed(&indices->executed.value) ==
           simt::load_relaxed(&indices->reserved.value);
  }

  WARDEN_DEVICE bool is_there(std::uint64_t index) const {
    typename Ref::message_type m;
    return inbox_.channel().receive(index, m);
  }

  WARDEN_DEVICE void release(unsigned least) {
    std::uint64_t const before = next_release_;
    next_release_ = inbox_.release(next_release_, least);
    if constexpr (Ref::policy::statistics) {
      if (simt::lane_id() == 0 && next_release_ != before) {
        std::uint64_t const reserved =
            simt::load_relaxed(&inbox_.channel().indices()->reserved.value);
        std::uint64_t const used = reserved - before * slice;
        simt::fetch_max(&ref_.report->totals.fullest_channel,
                        used < inbox_.channel().capacity() ? used : inbox_.channel().capacity());
      }
    }
  }

  Ref const& ref_;
  std::uint32_t number_;
  typename executor::table locks_;
  inbox<Ref> inbox_;
  std::uint64_t next_release_;
  std::uint32_t retries_ = 0;
};

WARDEN_NAMESPACE_END
