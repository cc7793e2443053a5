// SPDX-License-Identifier: Apache-2.0
/// @file
/// Messages that a server has received and cannot run yet, because another section has their record
/// locked.
#pragma once

#include <warden/detail/block/slot_free_list.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A waiting message.
template <class Message>
struct alignas(16) waiting_message {
  Message message;     ///< as received
  std::uint32_t next;  ///< place of the next message, or `no_place`
};

/// Memory for waiting messages, in global memory; part of a ref. A server has room for all messages
/// that can be in progress, each of which holds a credit, and for one more for each of its threads.
template <class Message>
struct lock_queue_memory {
  waiting_message<Message>* messages = nullptr;  ///< messages of all servers
  place_memory places;                           ///< free places
};

/// Messages that wait for one lock, by their places.
struct lock_queue {
  std::uint32_t first;  ///< place of the first message; `unlocked` or `no_place` if there is none
  std::uint32_t last;   ///< place of the last message
};

/// Locks that sections hold while they travel to another server, each with a queue of messages that
/// wait for it. One thread at a time handles a lock (see executor::pair_messages).
template <class Message>
class lock_queues {
 public:
  /// Constructs the locks of server `number`. `queues` has one element for each lock, the same for
  /// the whole block.
  WARDEN_DEVICE lock_queues(lock_queue_memory<Message> const& memory, std::uint32_t number,
                            simt::shared_span<lock_queue> queues)
      : memory_{memory}, number_{number}, queues_{queues} {}

  /// Frees all locks and empties all queues. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const {
    for (std::uint32_t i = simt::thread_rank(); i < queues_.size(); i += simt::block_threads())
      queues_[i] = {unlocked, 0};
  }

  /// Returns true if a travelling section holds the lock.
  WARDEN_DEVICE bool is_locked(std::uint32_t lock) const { return queues_[lock].first != unlocked; }
  /// Gives the lock to a section that travels now. Precondition: the lock is free, or the section
  /// was its first waiting message.
  WARDEN_DEVICE void take(std::uint32_t lock) const {
    if (!is_locked(lock)) queues_[lock] = {no_place, no_place};
  }

  /// Stores a waiting message in a place, at the front of the queue if `first`, otherwise at the
  /// end.
  WARDEN_DEVICE void push(std::uint32_t lock, Message const& m, bool first,
                          std::uint32_t place) const {
    lock_queue& q = queues_[lock];
    messages()[place] = {m, first ? q.first : no_place};
    if (q.first == no_place) {
      q = {place, place};
    } else if (first) {
      q.first = place;
    } else {
      messages()[q.last].next = place;
      q.last = place;  // mutation: queue-last
    }
  }
  /// Frees a locked lock if no message waits for it. Returns true if it did.
  WARDEN_DEVICE bool free_if_none_waits(std::uint32_t lock) const {
    lock_queue& q = queues_[lock];
    if (q.first != no_place) return false;
    q.first = unlocked;
    return true;
  }
  /// Removes the first message that waits for a locked lock. Returns the place that is free now.
  WARDEN_DEVICE std::uint32_t pop(std::uint32_t lock, Message& m) const {
    lock_queue& q = queues_[lock];
    std::uint32_t const place = q.first;
    m = messages()[place].message;
    q.first = messages()[place].next;  // mutation: resumed-twice
    return place;
  }

 private:
  /// `unlocked`: the lock is free. `no_place`: the queue is empty, or ends.
  static constexpr std::uint32_t unlocked = ~0u, no_place = ~0u - 1;

  // Computed when needed, which is rare, because a stored pointer would take registers.
  WARDEN_DEVICE waiting_message<Message>* messages() const {
    return memory_.messages + (std::size_t{number_} << memory_.places.room_log2);
  }

  lock_queue_memory<Message> const& memory_;
  std::uint32_t number_;
  simt::shared_span<lock_queue> queues_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
