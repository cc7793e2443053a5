// SPDX-License-Identifier: Apache-2.0
/// @file
/// Executor `pair_messages`: sections on two records of any owners, after [Wang 2020, section 4.4].
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/lock_table.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/fused/lane_sender.cuh>
#include <warden/detail/fused/pair_messages_run.cuh>
#include <warden/detail/fused/pair_messages_server.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs the messages of a warp's lanes, each under a lock of the server. See pair_messages_server.
template <class Ref>
class pair_messages_worker {
 public:
  /// Message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Type of one protected item.
  using record = typename Ref::record;

  /// Bytes of shared memory for `locals` records of the server.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t locals) {
    return layout{locals}.carver.bytes();
  }

  /// Constructs the worker of server `number`. `storage` is shared memory of the block.
  WARDEN_DEVICE pair_messages_worker(Ref const& ref, std::uint32_t number, std::byte* storage)
      : pair_messages_worker{ref, number, storage, layout{ref.locals}} {}

  /// Frees all locks and loads the records. Collective over the block; a block barrier follows.
  WARDEN_DEVICE void start() const {
    locks_.clear();
    run_.start();
    records_.load();
  }

  /// Prepares the warp to run messages. Collective over a warp.
  WARDEN_DEVICE void prepare() { run_.prepare(); }
  /// Runs the messages of the lanes with `arrived`, and publishes the messages that they send. `m`
  /// may change. Returns how many messages of this lane are no longer in progress. Collective over
  /// a warp.
  WARDEN_DEVICE unsigned run(message_type& m, bool arrived) {
    if (arrived) run_.count_arrival(m);
    std::uint32_t const lock = executor::lock_of(m.local());
    unsigned left = 0;
    bool resumes = false;
    do {
      lane_sender<Ref> out{ref_};
      if (arrived) arrived = run_locked(lock, m, resumes, left, out);
      // All lanes are together: their reservations are in progress at once, and no lane holds a
      // lock during them.
      simt::sync_warp(simt::full_warp);
      out.reserve();
      run_.prepare();
      left -= out.publish();
      resumes = true;
    } while (simt::any(simt::full_warp, arrived));
    return left;
  }

  /// Writes back the records. Collective over the block.
  WARDEN_DEVICE void finish() const {
    run_.finish();
    records_.write_back();
  }

 private:
  using executor = typename Ref::executor;
  using table = lock_table<executor::lock_count>;
  struct layout {
    WARDEN_HOST_DEVICE constexpr explicit layout(std::size_t locals)
        : locks{carver.take<std::uint32_t>(executor::lock_count)},
          run{carver, locals},
          records{record_store<Ref>::carve(carver, locals)} {}
    arena_carver carver{};
    arena_piece<std::uint32_t> locks;
    typename pair_messages_run<Ref>::layout run;
    arena_piece<record> records;
  };

  WARDEN_DEVICE pair_messages_worker(Ref const& ref, std::uint32_t number, std::byte* storage,
                                     layout const& at)
      : ref_{ref},
        number_{number},
        records_{ref, number, at.records.in(storage)},
        run_{ref, number, at.run, storage},
        locks_{at.locks.in(storage)} {}

  /// Runs one step of a message under its lock. Other threads of the block hold the lock only while
  /// a section runs. A section that travels with the lock leaves a mark instead (see lock_queues).
  /// Returns true if there is more to run.
  WARDEN_DEVICE bool run_locked(std::uint32_t lock, message_type& m, bool resumes, unsigned& left,
                                lane_sender<Ref>& out) {
    for (unsigned tries = 1; !locks_.try_lock(lock); ++tries) {
      // Sections are short: most locks are free again before a polite wait would end.
      if (tries % tries_before_wait != 0) continue;
      bool const alive = ref_.wait_until([&] { return locks_.is_free(lock); },
                                         [&](auto watch) { watch(locks_.word(lock)); },
                                         wait_kind::lock, number_, lock);
      if (!alive) return false;  // mutation: pair-poisoned
    }
    bool const more = run_.run(lock, m, resumes, left, records_, out);
    // Release, by the thread that ran the section.
    simt::fence_block();  // mutation: pair-message-fence
    locks_.unlock(lock);
    return more;
  }

  /// Attempts to take a lock before a polite wait.
  static constexpr unsigned tries_before_wait = 8;

  Ref const& ref_;
  std::uint32_t number_;
  record_store<Ref> records_;
  pair_messages_run<Ref> run_;
  table locks_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
