// SPDX-License-Identifier: Apache-2.0
/// @file
/// A table of locks in a server's shared memory. Records share locks. More records than locks is
/// normal, and costs only needless serialization [Wang 2020, section 4.2.1].
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// `Count` locks, a power of two, each one word of shared memory: 0 free, 1 held.
template <unsigned Count>
class lock_table {
  static_assert((Count & (Count - 1)) == 0 && Count != 0,
                "warden: the number of locks is a power of two");

 public:
  /// Precondition: `words` has `Count` elements.
  WARDEN_DEVICE explicit lock_table(simt::shared_span<std::uint32_t> words) : words_{words} {}

  /// Frees all locks. Collective; the caller's next block barrier completes it.
  WARDEN_DEVICE void clear() const {
    for (unsigned i = simt::thread_rank(); i < Count; i += simt::block_threads()) words_[i] = 0;
  }
  /// Returns the lock of the owner's record `local`.
  WARDEN_DEVICE static unsigned lock_of(std::uint32_t local) { return local & (Count - 1); }
  /// Tries once for a lock. On success the fence makes the last holder's writes visible to this
  /// thread.
  WARDEN_DEVICE bool try_lock(unsigned lock) const {
    bool const taken = take(lock);
    if (taken) simt::fence_block();
    return taken;
  }
  /// Tries once for two locks, which may be the same, and takes both or none. A thread that holds
  /// one of them runs a section or tries for a lower one, so of all the threads that try, some
  /// always succeed.
  WARDEN_DEVICE bool try_lock(unsigned a, unsigned b) const {
    unsigned const higher = a < b ? b : a, lower = a < b ? a : b;
    if (!take(higher)) return false;
    bool const taken = higher == lower || take(lower);  // mutation: second-lock
    if (taken) {
      simt::fence_block();
    } else {
      unlock(higher);
    }
    return taken;
  }
  /// Frees both locks, as `unlock`.
  WARDEN_DEVICE void unlock(unsigned a, unsigned b) const {
    unlock(a);
    if (a != b) unlock(b);  // mutation: unlock-twice
  }
  /// Frees a lock. Precondition: the caller has fenced, after a barrier with all other threads that
  /// ran under the lock.
  WARDEN_DEVICE void unlock(unsigned lock) const { simt::shared_exchange(words_[lock], 0u); }
  /// True if the lock looks free. Relaxed, for polls.
  WARDEN_DEVICE bool is_free(unsigned lock) const { return simt::shared_load(words_[lock]) == 0u; }
  /// Returns the word that changes when the lock is freed.
  WARDEN_DEVICE std::uint32_t const* word(unsigned lock) const { return &words_[lock]; }

 private:
  WARDEN_DEVICE bool take(unsigned lock) const {
    bool const taken = simt::shared_compare_exchange(words_[lock], 0u, 1u) == 0u;  // mutation: lock
    if (!taken) simt::note_lock_retry();
    return taken;
  }

  simt::shared_span<std::uint32_t> words_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
