// SPDX-License-Identifier: Apache-2.0
/// @file
/// Locks in global memory, one for each record: the method that Warden replaces and is compared
/// with.
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

/// Bounded wait for a lock. It reads only the result of the failed attempt, the holder's name. The
/// name changes with each acquisition, so a changed name is progress.
class lock_wait {
 public:
  /// Constructs the wait for one acquisition of `lock`.
  WARDEN_DEVICE lock_wait(detail::launch_health* health, time_limit limit, std::uint32_t lock)
      : health_{health}, dog_{health, limit}, lock_{lock} {}

  /// Notes a failed attempt that found `holder`. Returns false if the launch is poisoned.
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

/// Locks as device code sees them.
class lock_array_ref {
 public:
  /// Indeterminate value: assign before use.
  lock_array_ref() = default;
  /// Constructs a ref. Precondition: both pointers are device memory that outlives the ref.
  lock_array_ref(std::uint32_t* words, detail::launch_health* health, time_limit limit)
      : words_{words}, health_{health}, limit_{limit} {}

  /// Returns a non-zero name for this thread's `acquisition`-th acquisition.
  WARDEN_DEVICE static std::uint32_t name(std::uint32_t acquisition) {
    std::uint32_t const thread = simt::block_rank() * simt::block_threads() + simt::thread_rank();
    return ((thread + 1) & 0xfffffu) | acquisition << 20 | 1u << 31;
  }
  /// Returns a name for the next acquisition of the thread that has `name`. A thread needs one if
  /// it gives a lock back and takes it again for the same section. With the old name, waiting
  /// threads would count the lock as never released.
  WARDEN_DEVICE static std::uint32_t next_name(std::uint32_t name) {
    return (name + (1u << 20)) | 1u << 31;
  }
  /// Tries to take the lock. Returns 0 if it did, otherwise the holder's name. The fence is an
  /// acquire. It also drops stale copies of the record from this multiprocessor's L1, so plain
  /// accesses are correct.
  WARDEN_DEVICE std::uint32_t try_lock(std::uint32_t lock, std::uint32_t name) const {
    std::uint32_t const holder = try_take(lock, name);
    if (holder == 0) acquire();
    return holder;
  }
  /// Tries to take the lock without the fence. `acquire` must follow after all locks of a section
  /// are taken.
  WARDEN_DEVICE std::uint32_t try_take(std::uint32_t lock, std::uint32_t name) const {
    std::uint32_t const holder = simt::compare_exchange(&words_[lock], 0u, name);
    if (holder != 0) simt::note_lock_retry();
    return holder;
  }
  /// Makes the writes of earlier holders visible to this thread, which has taken their locks.
  WARDEN_DEVICE void acquire() const { simt::fence_device(); }
  /// Frees the lock. The caller's writes, and those it has seen, become visible to the next holder.
  WARDEN_DEVICE void unlock(std::uint32_t lock) const {
    simt::fence_device();
    simt::store_relaxed(&words_[lock], 0u);
  }
  /// Frees both locks, which may be one, with one fence.
  WARDEN_DEVICE void unlock(std::uint32_t a, std::uint32_t b) const {
    simt::fence_device();
    simt::store_relaxed(&words_[a], 0u);
    if (a != b) simt::store_relaxed(&words_[b], 0u);
  }
  /// Frees a lock under which nothing was read or written. Uses an atomic, so that the next holder
  /// still sees what the holder before this one released, without a fence.
  WARDEN_DEVICE void give_back(std::uint32_t lock) const { simt::exchange(&words_[lock], 0u); }
  /// Returns the state of a wait for `lock`.
  WARDEN_DEVICE lock_wait wait(std::uint32_t lock) const { return {health_, limit_, lock}; }
  /// Returns true if a wait has exceeded its time limit.
  WARDEN_DEVICE bool poisoned() const { return detail::is_poisoned(health_); }

 private:
  std::uint32_t* words_;
  detail::launch_health* health_;
  time_limit limit_;
};

/// Array of locks, initially free.
class lock_array {
 public:
  /// Constructs `size` free locks. A wait without progress ends after `limit_seconds`. Throws
  /// cuda_error if memory is short.
  explicit lock_array(std::size_t size, double limit_seconds = 10,
                      std::source_location where = std::source_location::current())
      : words_{size, where},
        health_{1, where},
        limit_{static_cast<std::uint64_t>(limit_seconds * 1e9), 4096} {
    clear({}, where);
  }
  /// Returns a ref, valid while the array lives.
  [[nodiscard]] lock_array_ref ref() const { return {words_.data(), health_.data(), limit_}; }

  /// Blocks the host until the stream has reached this point. Throws timeout_error if a wait for a
  /// lock took too long.
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
