// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups of lanes under locks: a group's first lane takes the locks of one of its lanes' messages,
/// and all lanes together run its section, and those of the group's other messages for the same
/// locks.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/execute/lock_pair.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The message of another lane of the group. Collective over the group.
template <unsigned Lanes, class Message>
WARDEN_DEVICE Message message_of_lane(lane_group<Lanes> const& lanes, Message const& own,
                                      unsigned lane) {
  static_assert(sizeof(Message) % sizeof(std::uint32_t) == 0);
  std::uint32_t words[sizeof(Message) / sizeof(std::uint32_t)];
  memcpy(words, &own, sizeof(Message));
  WARDEN_UNROLL
  for (std::uint32_t& word : words) word = lanes.shuffle(word, lane);
  Message m;
  memcpy(&m, words, sizeof(Message));
  return m;
}

/// Runs the messages that the lanes of a group have in hand, those of the lanes that `arrived`,
/// which want the locks `wanted`. `choose(lanes)`, collective, under the locks, returns which of
/// the messages of these lanes need to run. `run(m)` runs one by all lanes of the group, together,
/// and must `sync` them after it. `wait(locks)` waits with pauses for two locks that were taken, by
/// one lane, and returns false once the launch is poisoned. Counts failed tries. Collective over
/// the group. Returns false if the launch was poisoned before all had run.
template <unsigned Lanes, class Table, class Message, class Choose, class Run, class Wait>
WARDEN_DEVICE bool run_under_locks(lane_group<Lanes> const& lanes, Table const& locks,
                                   Message const& own, lock_pair wanted, bool arrived,
                                   std::uint32_t& retries, Choose choose, Run run, Wait wait) {
  // PerThread without any lock before a group waits politely.
  constexpr unsigned tries_before_wait = 8;
  // Numbers of locks are below 2^31: a lane without a message has a key of its own.
  unsigned const alike = lanes.match(arrived ? std::uint64_t{wanted.a} << 32 | wanted.b
                                             : ~std::uint64_t{0} << 32 | lanes.lane());
  unsigned fruitless = 0;
  unsigned waiting = lanes.ballot(arrived);
  while (waiting != 0) {
    unsigned const before = waiting;
    WARDEN_NO_UNROLL
    for (unsigned left = waiting; left != 0;) {
      auto const turn = static_cast<unsigned>(simt::first_bit(left));
      unsigned const together = lanes.shuffle(alike, turn);
      left &= ~together;
      bool const is_first = lanes.lane() == 0;
      unsigned const a = lanes.shuffle(wanted.a, turn), b = lanes.shuffle(wanted.b, turn);
      bool const taken = lanes.any(is_first && locks.try_lock(a, b));
      if (!taken) {
        if (is_first) ++retries;
        continue;
      }
      // The barrier hands the first lane's acquisition to the others.
      lanes.sync();  // mutation: group-acquire
      WARDEN_NO_UNROLL
      for (unsigned bits = choose(together); bits != 0; bits &= bits - 1)
        run(message_of_lane(lanes, own, static_cast<unsigned>(simt::first_bit(bits))));
      // Release: the barrier after the last section, or that of `choose`, made the writes and reads
      // of each lane known to the first one, whose fence comes before its unlock.
      if (is_first) {
        simt::fence_block();
        locks.unlock(a, b);
      }
      waiting &= ~together;
    }
    // No lock is held here: a group never waits for one lock while it holds another.
    if (waiting == before && ++fruitless % tries_before_wait == 0) {
      auto const turn = static_cast<unsigned>(simt::first_bit(waiting));
      lock_pair const first{lanes.shuffle(wanted.a, turn), lanes.shuffle(wanted.b, turn)};
      if (!lanes.all(lanes.lane() != 0 || wait(first))) return false;
    }
  }
  return true;
}

/// A `choose` of messages all of which are run.
struct run_all {
  /// These lanes.
  WARDEN_DEVICE unsigned operator()(unsigned together) const { return together; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
