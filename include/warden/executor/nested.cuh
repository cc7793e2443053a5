// SPDX-License-Identifier: Apache-2.0
/// @file
/// The `nested` executor: sections on two records, whoever owns them (after papers/002,
/// section 4.4).
#pragma once

#include <warden/forward_window.cuh>
#include <warden/forwarding_server.cuh>
#include <warden/lock_table.cuh>
#include <warden/nested_run.cuh>
#include <warden/record_store.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace executor {

/// Runs the messages of one window, each in the thread that received it, under a lock of the
/// server's. See forwarding_server.
template <class Ref, unsigned BytesPerThread>
class nested_worker {
 public:
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Messages of a thread in one window, at most.
  static constexpr unsigned rounds = std::max<unsigned>(3, BytesPerThread / sizeof(message_type));

 private:
  using executor = typename Ref::policy::executor;
  using table = lock_table<executor::lock_count>;
  using forwards = forward_window<Ref, rounds * threads>;
  static constexpr std::size_t window_bytes = sizeof(message_type) * rounds * threads;
  static constexpr std::size_t table_bytes =
      (executor::lock_count * sizeof(std::uint32_t) + 15) / 16 * 16;
  static constexpr std::size_t own_bytes = window_bytes + table_bytes;
  WARDEN_HOST_DEVICE static constexpr std::size_t queue_bytes(std::size_t locals) {
    return (nested_run<Ref>::shared_bytes(locals) + 15) / 16 * 16;
  }

 public:
  /// Bytes of shared memory for `locals` records of the server.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t locals) {
    return own_bytes + queue_bytes(locals) + record_store<Ref>::shared_bytes(locals);
  }

  /// Of server `number`, with shared memory for the block.
  WARDEN_DEVICE nested_worker(Ref const& ref, std::uint32_t number, std::byte* storage)
      : ref_{ref},
        number_{number},
        records_{ref, number, storage + own_bytes + queue_bytes(ref.locals)},
        nested_{ref, number, storage + own_bytes},
        locks_{simt::shared_span<std::uint32_t>{
            reinterpret_cast<std::uint32_t*>(storage + window_bytes), executor::lock_count}},
        window_{reinterpret_cast<message_type*>(storage), rounds * threads} {}

  /// All locks free, all records in place. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const {
    locks_.clear();
    nested_.start();
    records_.load();
  }

  /// Puts each message where what it sends on will lie.
  WARDEN_DEVICE void take(message_type const (&m)[rounds], unsigned arrived) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
      message_type& slot = window_[k * threads + simt::thread_rank()];
      if (arrived >> k & 1u) {
        slot = forwards::unmarked(m[k]);
      } else {
        slot.lanes[0].second = 0;
      }
    }
  }

  /// Runs the thread's messages and publishes what they send. Returns the tokens spent, as
  /// forwarding_server asks.
  WARDEN_DEVICE unsigned execute(message_type const (&)[rounds], unsigned arrived) const {
    typename forwards::run out{ref_, window_};
    int set_aside = 0;
    WARDEN_NO_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
      std::uint32_t const slot = k * threads + simt::thread_rank();
      if (arrived >> k & 1u) {
        message_type const m = window_[slot];
        out.at(slot);
        set_aside += run(m, out);
      }
      // Lanes that waited for locks catch up: the warp goes through the rounds as one.
      simt::sync_warp(simt::full_warp);
    }
    return forwards::publish(ref_, window_, rounds * threads) + out.published() +
           static_cast<unsigned>(set_aside);
  }

  /// Collective.
  WARDEN_DEVICE void finish() const { records_.write_back(); }

 private:
  /// Under the lock, whatever takes it. Other threads of the block have it for no longer than a
  /// section runs; a section that is on its way with it leaves a mark instead (see lock_queues).
  WARDEN_DEVICE int run(message_type const& m, typename forwards::run& out) const {
    std::uint32_t const lock = executor::lock_of(m.local());
    for (unsigned tries = 1; !locks_.try_lock(lock); ++tries) {
      // Sections are short: most locks are free again before a polite wait would end.
      if (tries % tries_before_wait != 0) continue;
      bool const alive = ref_.wait_until([&] { return locks_.is_free(lock); },
                                         [&](auto watch) { watch(locks_.word(lock)); },
                                         wait_kind::lock, number_, lock);
      if (!alive) return 0;
    }
    int const set_aside = nested_.run(m, records_, out);
    // Release, by the thread that ran it.
    simt::fence_block();
    locks_.unlock(lock);
    return set_aside;
  }

  /// Tries for a lock before a polite wait.
  static constexpr unsigned tries_before_wait = 8;

  Ref const& ref_;
  std::uint32_t number_;
  record_store<Ref> records_;
  nested_run<Ref> nested_;
  table locks_;
  simt::shared_span<message_type> window_;
};

/// Sections on two records that may have two owners, and sections on one. While a section on two is
/// on its way with one of them, what comes for that record waits, by `Locks` locks a server, a
/// power of two. `BytesPerThread` bytes of messages for each thread make a window.
template <unsigned BytesPerThread = 128, unsigned Locks = 4096>
struct nested {
  /// Sections may send others.
  static constexpr bool forwards = true;
  /// A record stays locked while a section is on its way to the other one.
  static constexpr pairs_of pairs = pairs_of::any_owners;
  /// Locks of a server.
  static constexpr std::uint32_t lock_count = Locks;
  /// The lock of the owner's record `local`.
  WARDEN_DEVICE static std::uint32_t lock_of(std::uint32_t local) {
    return lock_table<Locks>::lock_of(local);
  }
  /// The server loop.
  template <class Ref>
  using server = forwarding_server<Ref, nested_worker<Ref, BytesPerThread>>;
};

}  // namespace executor
WARDEN_NAMESPACE_END
