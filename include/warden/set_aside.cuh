// SPDX-License-Identifier: Apache-2.0
/// @file
/// Messages that a server has received and cannot run yet, because another section has their record
/// locked.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A message that waits.
template <class Message>
struct alignas(16) waiting_message {
  Message message;     ///< as received
  std::uint32_t next;  ///< the one behind it, if there is one
};

/// Where servers keep such messages, in global memory; part of a ref. A server has room for as many
/// as can be under way: each of them holds a token.
template <class Message>
struct set_aside_memory {
  waiting_message<Message>* messages = nullptr;  ///< of all servers
  std::uint32_t* free =
      nullptr;  ///< of all servers, twice as many: rings of unused messages' numbers
  std::uint32_t room_log2 = 0;  ///< of one server's messages
};

/// The locks of a server's records as sections have them on their way, each with a queue of
/// messages that wait for it. A lock is in one thread's hands at a time (see executor::nested):
/// only the memory is shared out by atomics.
template <class Message>
class lock_queues {
 public:
  /// Bytes of shared memory for so many locks.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t locks) {
    return sizeof(counts) + sizeof(queue) * locks;
  }

  /// Of server `number`, with `locks` locks in shared memory, aligned to 8 bytes.
  WARDEN_DEVICE lock_queues(set_aside_memory<Message> const& memory, std::uint32_t number,
                            std::byte* storage, std::uint32_t locks)
      : memory_{memory},
        number_{number},
        counts_{reinterpret_cast<counts*>(storage), 1},
        queues_{reinterpret_cast<queue*>(storage + sizeof(counts)), locks} {}

  /// All locks free, no messages. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const {
    for (std::uint32_t i = simt::thread_rank(); i < room(); i += simt::block_threads())
      free()[i] = i;
    for (std::uint32_t i = simt::thread_rank(); i < queues_.size(); i += simt::block_threads())
      queues_[i] = {unlocked, 0};
    if (simt::thread_rank() == 0) counts_[0] = {0, room()};
  }

  /// Whether a section has the lock while it is on its way.
  WARDEN_DEVICE bool is_locked(std::uint32_t lock) const { return queues_[lock].first != unlocked; }
  /// A section goes on its way with the lock, which is free, or whose first message it was.
  WARDEN_DEVICE void take(std::uint32_t lock) const {
    if (!is_locked(lock)) queues_[lock] = {nobody, nobody};
  }

  /// Sets a message aside, before all others or behind them.
  WARDEN_DEVICE void push(std::uint32_t lock, Message const& m, bool first) const {
    queue& q = queues_[lock];
    std::uint32_t const place = set_aside(m, first ? q.first : nobody);
    if (q.first == nobody) {
      q = {place, place};
    } else if (first) {
      q.first = place;
    } else {
      messages()[q.last].next = place;
      q.last = place;
    }
  }
  /// Takes the first message of a locked lock. Where there is none, the lock is free from now on,
  /// and the result false.
  WARDEN_DEVICE bool pop(std::uint32_t lock, Message& m) const {
    queue& q = queues_[lock];
    std::uint32_t const place = q.first;
    if (place == nobody) {
      q.first = unlocked;
      return false;
    }
    m = messages()[place].message;
    q.first = messages()[place].next;  // sabotage: resumed-twice
    free()[simt::shared_fetch_add(counts_[0].freed, 1u) & (2 * room() - 1)] = place;
    return true;
  }

 private:
  /// A lock that is free; an empty queue.
  static constexpr std::uint32_t unlocked = ~0u, nobody = ~0u - 1;
  struct queue {
    std::uint32_t first, last;
  };
  struct counts {
    std::uint32_t used, freed;  ///< places, since the launch began; the ring's ends
  };

  /// There is a place: a window brings no more messages than there were places left before it, all
  /// of them freed behind an earlier barrier. And as a ring has twice as many slots, none of those
  /// is written again in this window.
  WARDEN_DEVICE std::uint32_t set_aside(Message const& m, std::uint32_t next) const {
    std::uint32_t const place =
        free()[simt::shared_fetch_add(counts_[0].used, 1u) & (2 * room() - 1)];
    messages()[place] = {m, next};
    return place;
  }

  // Looked up where they are needed, which is seldom: kept, they would take registers.
  WARDEN_DEVICE std::uint32_t room() const { return 1u << memory_.room_log2; }
  WARDEN_DEVICE waiting_message<Message>* messages() const {
    return memory_.messages + (std::size_t{number_} << memory_.room_log2);
  }
  WARDEN_DEVICE std::uint32_t* free() const {
    return memory_.free + (std::size_t{number_} << (memory_.room_log2 + 1));
  }

  set_aside_memory<Message> const& memory_;
  std::uint32_t number_;
  simt::shared_span<counts> counts_;
  simt::shared_span<queue> queues_;
};

WARDEN_NAMESPACE_END
