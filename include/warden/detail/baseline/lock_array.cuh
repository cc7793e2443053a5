// SPDX-License-Identifier: Apache-2.0
/// @file
/// Locks in global memory, one for each record: what Warden replaces, and is compared with.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/watchdog.cuh>
#include <warden/error.hpp>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// A wait for a lock, bounded without touching anything but what the failed try returned anyway:
/// the holder. Holders have names that change with each acquisition, so a changed name is progress.
class lock_wait {
 public:
  /// For one acquisition of `lock`.
  WARDEN_DEVICE lock_wait(detail::launch_health* health, time_limit limit, std::uint32_t lock)
      : health_{health}, dog_{health, limit}, lock_{lock} {}

  /// After a failed try that found `holder`. False once the launch is poisoned.
  WARDEN_DEVICE bool hopeful(std::uint32_t holder) {
    changes_ += holder != last_holder_ ? 1 : 0;
    last_holder_ = holder;
    if (++tries_ % detail::watchdog::polls_per_look != 0) return true;
    return dog_.hopeful([this] { return std::uint64_t{changes_} + 1; },
                        [this] {
                          detail::poison(
                              health_, {wait_kind::lock, simt::block_rank(), simt::thread_rank(), 0,
                                        0, 0, lock_, 0, 0, wait_kind::nothing});
                        });
  }

 private:
  detail::launch_health* health_;
  detail::watchdog dog_;
  std::uint32_t lock_;
  std::uint32_t tries_ = 0;
  std::uint32_t changes_ = 0;
  std::uint32_t last_holder_ = 0;
};

/// The locks as device code sees them.
class lock_array_ref {
 public:
  /// Indeterminate: assign before use.
  lock_array_ref() = default;
  /// Both pointers are device memory that outlives the ref.
  lock_array_ref(std::uint32_t* words, detail::launch_health* health, time_limit limit)
      : words_{words}, health_{health}, limit_{limit} {}

  /// A non-zero name for this thread's `acquisition`-th acquisition.
  WARDEN_DEVICE static std::uint32_t name(std::uint32_t acquisition) {
    std::uint32_t const thread = simt::block_rank() * simt::block_threads() + simt::thread_rank();
    return ((thread + 1) & 0xfffffu) | acquisition << 20 | 1u << 31;
  }
  /// A name for the next acquisition of the thread that has `name`. A thread that gives a lock back
  /// and takes it again for the same section needs one: with the old name, waiting threads would
  /// take the lock for one that is never released.
  WARDEN_DEVICE static std::uint32_t next_name(std::uint32_t name) {
    return (name + (1u << 20)) | 1u << 31;
  }
  /// One try: 0 if the lock is now ours, otherwise its holder's name. The fence is an acquire; it
  /// also drops stale copies of the record from this multiprocessor's L1, so that plain accesses
  /// are right.
  WARDEN_DEVICE std::uint32_t try_lock(std::uint32_t lock, std::uint32_t name) const {
    std::uint32_t const holder = try_take(lock, name);
    if (holder == 0) acquire();
    return holder;
  }
  /// Tries as try_lock does, without the fence: `acquire` follows once all locks of a section are
  /// ours.
  WARDEN_DEVICE std::uint32_t try_take(std::uint32_t lock, std::uint32_t name) const {
    std::uint32_t const holder = simt::compare_exchange(&words_[lock], 0u, name);
    if (holder != 0) simt::note_lock_retry();
    return holder;
  }
  /// Makes what earlier holders wrote visible to this thread, which has taken their locks.
  WARDEN_DEVICE void acquire() const { simt::fence_device(); }
  /// Frees the lock. The caller's writes, and those it has seen, become visible to the next holder.
  WARDEN_DEVICE void unlock(std::uint32_t lock) const {
    simt::fence_device();
    simt::store_relaxed(&words_[lock], 0u);
  }
  /// Unlocks both, which may be one, with one fence.
  WARDEN_DEVICE void unlock(std::uint32_t a, std::uint32_t b) const {
    simt::fence_device();
    simt::store_relaxed(&words_[a], 0u);
    if (a != b) simt::store_relaxed(&words_[b], 0u);
  }
  /// Frees a lock under which nothing was read or written. An atomic, so that the next holder still
  /// sees what the one before us released, without a fence.
  WARDEN_DEVICE void give_back(std::uint32_t lock) const { simt::exchange(&words_[lock], 0u); }
  /// The state of a wait for `lock`.
  WARDEN_DEVICE lock_wait wait(std::uint32_t lock) const { return {health_, limit_, lock}; }
  /// Whether a wait has run out of time.
  WARDEN_DEVICE bool poisoned() const { return detail::is_poisoned(health_); }

 private:
  std::uint32_t* words_;
  detail::launch_health* health_;
  time_limit limit_;
};

/// `size` free locks.
class lock_array {
 public:
  /// A wait without progress is given up after `limit_seconds`. Throws cuda_error when memory is
  /// short.
  explicit lock_array(std::size_t size, double limit_seconds = 10,
                      std::source_location where = std::source_location::current())
      : words_{size, where},
        health_{1, where},
        limit_{static_cast<std::uint64_t>(limit_seconds * 1e9), 4096} {
    clear({}, where);
  }
  /// Valid while the array lives.
  [[nodiscard]] lock_array_ref ref() const { return {words_.data(), health_.data(), limit_}; }

  /// Blocks the host until the stream has come here; throws timeout_error if a wait for a lock ran
  /// out.
  void wait(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    detail::launch_health health;
    copy(&health, health_.data(), 1, s, where);
    s.synchronize(where);
    if (health.poisoned == 0) return;
    diagnosis d;
    d.wait = health.first;
    d.limit_seconds = static_cast<double>(limit_.nanoseconds) * 1e-9;
    error_list found;
    found.add(std::move(d));
    found.collect([&] { clear(s, where); });
    found.throw_all(where);
  }

 private:
  void clear(stream_ref s, std::source_location where) {
    words_.fill_bytes(0, s, where);
    health_.fill_bytes(0, s, where);
    s.synchronize(where);
  }
  buffer<std::uint32_t> words_;
  buffer<detail::launch_health> health_;
  time_limit limit_;
};

}  // namespace baseline
WARDEN_NAMESPACE_END
