// SPDX-License-Identifier: Apache-2.0
/// @file
/// What groups of lanes do in the executor `locks`: a group's first lane takes the locks of one of
/// its lanes' messages, and all lanes together run its section, and those of the group's other
/// messages for the same locks.
#pragma once

#include <warden/block/record_store.cuh>
#include <warden/lane_group.cuh>
#include <warden/launch/section_runner.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN
namespace executor {

/// Runs the messages that the lanes of a warp have, by groups, under the locks of `Table`. `Wait`
/// waits for a pair of locks: `bool wait(a, b)`, false once the launch is poisoned.
template <class Ref, class Table, class Wait>
class group_locks {
  using message_type = typename Ref::message_type;
  using reply_type = typename Ref::reply_type;
  using group = lane_group<Ref::lanes>;

 public:
  /// The arguments outlive it, but for `wait`.
  WARDEN_DEVICE group_locks(Ref const& ref, record_store<Ref> const& records, Table const& locks,
                            Wait wait)
      : ref_{ref}, records_{records}, locks_{locks}, wait_{wait} {}

  /// Runs the section of every lane that `arrived`; `second` is the other record of a pair, and the
  /// message's own otherwise. Counts tries in vain. Collective over the group. False if the launch
  /// was poisoned before all had run.
  WARDEN_DEVICE bool run(message_type const& m, std::uint32_t second, bool arrived,
                         std::uint32_t& retries) const {
    group const lanes;
    unsigned const a = Table::lock_of(m.local()), b = Table::lock_of(second);
    // Both numbers are below 2^31: a lane without a message has a key of its own.
    unsigned const alike =
        lanes.match(arrived ? std::uint64_t{a} << 32 | b : ~0ull << 32 | lanes.lane());
    unsigned fruitless = 0;
    unsigned waiting = lanes.ballot(arrived);
    while (waiting != 0) {
      unsigned const before = waiting;
      WARDEN_NO_UNROLL
      for (unsigned left = waiting; left != 0;) {
        auto const turn = static_cast<unsigned>(simt::first_bit(left));
        unsigned const together = lanes.shuffle(alike, turn);
        left &= ~together;
        bool const tries = lanes.lane() == 0;
        unsigned const of_first = lanes.shuffle(a, turn), of_second = lanes.shuffle(b, turn);
        bool const taken = lanes.any(tries && locks_.try_lock(of_first, of_second));
        if (!taken) {
          if (tries) ++retries;
          continue;
        }
        // The barrier hands the first lane's acquisition to the others.
        lanes.sync();  // sabotage: group-acquire
        run_all(lanes, m, second, together);
        // Release: behind the barrier of the last section the first lane, whose fence comes before
        // its unlock.
        if (tries) {
          simt::fence_block();
          locks_.unlock(of_first, of_second);
        }
        waiting &= ~together;
      }
      // No lock is held here: a group never waits for one lock while it holds another.
      if (waiting == before && ++fruitless % tries_before_wait == 0) {
        auto const turn = static_cast<unsigned>(simt::first_bit(waiting));
        unsigned const of_first = lanes.shuffle(a, turn), of_second = lanes.shuffle(b, turn);
        if (!lanes.all(lanes.lane() != 0 || wait_(of_first, of_second))) return false;
      }
    }
    return true;
  }

 private:
  /// Rounds without any lock before a group waits politely.
  static constexpr unsigned tries_before_wait = 8;

  /// The sections of the lanes in `bits`, one after another; their locks are held.
  WARDEN_DEVICE void run_all(group const& lanes, message_type const& own, std::uint32_t own_second,
                             unsigned bits) const {
    WARDEN_NO_UNROLL
    for (; bits != 0; bits &= bits - 1) {
      auto const turn = static_cast<unsigned>(simt::first_bit(bits));
      message_type const m = from_lane(lanes, own, turn);
      std::uint32_t const second = lanes.shuffle(own_second, turn);
      auto* const identity = records_.address_of(m.local());
      auto* const other = records_.address_of(second);
      reply_type to_caller;
      simt::group_enter(lanes.mask(), identity);
      if (other != identity) simt::group_enter(lanes.mask(), other);
      section_runner{ref_}.apply(m, *records_.at(m.local()), *records_.at(second), to_caller);
      if (other != identity) simt::group_leave(lanes.mask(), other);
      simt::group_leave(lanes.mask(), identity);
      // What each lane wrote is visible to all, in the next section and in the first lane's answer.
      lanes.sync();  // sabotage: group-release
      reply_type const to_callers[1] = {to_caller};
      if (lanes.lane() == 0) section_runner{ref_}.reply(to_callers);
    }
  }

  /// The message of another lane of the group.
  WARDEN_DEVICE static message_type from_lane(group const& lanes, message_type const& own,
                                              unsigned lane) {
    static_assert(sizeof(message_type) % 4 == 0);
    std::uint32_t words[sizeof(message_type) / 4];
    memcpy(words, &own, sizeof(own));
    WARDEN_UNROLL
    for (std::uint32_t& word : words) word = lanes.shuffle(word, lane);
    message_type m;
    memcpy(&m, words, sizeof(m));
    return m;
  }

  Ref const& ref_;
  record_store<Ref> const& records_;
  Table const& locks_;
  Wait wait_;
};

}  // namespace executor
WARDEN_NAMESPACE_END
