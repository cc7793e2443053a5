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

/// A message that waits.
template <class Message>
struct alignas(16) waiting_message {
  Message message;     ///< as received
  std::uint32_t next;  ///< the one behind it, if there is one
};

/// Where servers keep such messages, in global memory; part of a ref. A server has room for as many
/// as can be under way, each of which holds a credit, and for one more for each of its threads.
template <class Message>
struct lock_queue_memory {
  waiting_message<Message>* messages = nullptr;  ///< of all servers
  place_memory places;                           ///< which of them are free
};

/// The messages that wait for one lock, by their places.
struct lock_queue {
  std::uint32_t first;  ///< the place of the first one, or what the lock is without any
  std::uint32_t last;   ///< the place of the last one
};

/// The locks of a server's records as sections have them on their way, each with a queue of
/// messages that wait for it. A lock is in one thread's hands at a time (see
/// executor::pair_messages).
template <class Message>
class lock_queues {
 public:
  /// For server `number`; `queues` is one a lock, the same for the whole block.
  WARDEN_DEVICE lock_queues(lock_queue_memory<Message> const& memory, std::uint32_t number,
                            simt::shared_span<lock_queue> queues)
      : memory_{memory}, number_{number}, queues_{queues} {}

  /// All locks free, no messages. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const {
    for (std::uint32_t i = simt::thread_rank(); i < queues_.size(); i += simt::block_threads())
      queues_[i] = {unlocked, 0};
  }

  /// Whether a section has the lock while it is on its way.
  WARDEN_DEVICE bool is_locked(std::uint32_t lock) const { return queues_[lock].first != unlocked; }
  /// A section goes on its way with the lock, which is free, or whose first message it was.
  WARDEN_DEVICE void take(std::uint32_t lock) const {
    if (!is_locked(lock)) queues_[lock] = {nobody, nobody};
  }

  /// Sets a message aside in a place, before all others or behind them.
  WARDEN_DEVICE void push(std::uint32_t lock, Message const& m, bool first,
                          std::uint32_t place) const {
    lock_queue& q = queues_[lock];
    messages()[place] = {m, first ? q.first : nobody};
    if (q.first == nobody) {
      q = {place, place};
    } else if (first) {
      q.first = place;
    } else {
      messages()[q.last].next = place;
      q.last = place;  // mutation: queue-last
    }
  }
  /// Whether nobody waits for a locked lock, which is free then.
  WARDEN_DEVICE bool free_if_none_waits(std::uint32_t lock) const {
    lock_queue& q = queues_[lock];
    if (q.first != nobody) return false;
    q.first = unlocked;
    return true;
  }
  /// Takes the first message that waits for a locked lock, and tells the place that is free now.
  WARDEN_DEVICE std::uint32_t pop(std::uint32_t lock, Message& m) const {
    lock_queue& q = queues_[lock];
    std::uint32_t const place = q.first;
    m = messages()[place].message;
    q.first = messages()[place].next;  // mutation: resumed-twice
    return place;
  }

 private:
  /// A lock that is free; an empty queue.
  static constexpr std::uint32_t unlocked = ~0u, nobody = ~0u - 1;

  // Looked up where they are needed, which is seldom: kept, they would take registers.
  WARDEN_DEVICE waiting_message<Message>* messages() const {
    return memory_.messages + (std::size_t{number_} << memory_.places.room_log2);
  }

  lock_queue_memory<Message> const& memory_;
  std::uint32_t number_;
  simt::shared_span<lock_queue> queues_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
