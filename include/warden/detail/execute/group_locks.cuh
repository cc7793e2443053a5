// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections of groups of lanes under locks. A group's first lane takes the locks of one of its
/// lanes' messages. All lanes together then run that section, and those of the group's other
/// messages for the same locks.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/execute/lock_pair.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the message of another lane of the group. Collective over the group.
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

/// Runs the messages of the lanes that `arrived`, under the locks that each lane has `wanted`.
/// Collective over the group. Returns false if the launch was poisoned before all had run. Counts
/// failed tries in `retries`.
/// - `choose(lanes)` returns the lanes, of these, whose messages need to run. Collective, called
///   under the locks.
/// - `run(m)` runs one message by all lanes of the group together, and must `sync` them afterwards.
/// - `wait(locks)` waits, with pauses, for two locks that were taken. One lane calls it. It returns
///   false once the launch is poisoned.
template <unsigned Lanes, class Table, class Message, class Choose, class Run, class Wait>
WARDEN_DEVICE bool run_under_locks(lane_group<Lanes> const& lanes, Table const& locks,
                                   Message const& own, lock_pair wanted, bool arrived,
                                   std::uint32_t& retries, Choose choose, Run run, Wait wait) {
  // Tries without any lock before a group waits with pauses.
  constexpr unsigned tries_before_wait = 8;
  // Numbers of locks are below 2^31: a lane without a message has its own key.
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
      // of each lane visible to the first lane, whose fence comes before its unlock.
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

/// A `choose` that runs all messages.
struct run_all {
  /// Returns all of these lanes.
  WARDEN_DEVICE unsigned operator()(unsigned together) const { return together; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
