// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a block runs the sections between the records of two parts that it holds: by locks in shared
/// memory as long as few threads want one record, and one after another by one thread where many
/// do.
///
/// Every message is tried by the thread that has it, as long as that gets on: both locks or none,
/// so nobody waits for a lock while it holds another. What is left then is for *runners*: a message
/// belongs to that one of its two locks that more of what is left wants, and the lock to a warp. So
/// all sections on a hot record are found by one warp, which takes the locks of their other records
/// together and has one lane run them in turn, the records in registers. A runner gives its record
/// back before it tries for others, so that two of them never wait for one another.
#pragma once

#include <warden/block/arena_carver.cuh>
#include <warden/block/lock_table.cuh>
#include <warden/block/pair_store.cuh>
#include <warden/channel/log_pairs.cuh>
#include <warden/channel/wire_types.cuh>
#include <warden/critical_section.cuh>
#include <warden/diagnosis.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace executor {

/// Runs the sections of one window after another. `Ref` is a rounds_ref; messages have slots in
/// place of ids. See rounds_server.
template <class Ref>
class rounds_worker {
  using message_type = typename Ref::message_type;
  using record = typename Ref::record;
  using format = typename Ref::format;
  using pairs = pair_words<format>;
  using store = pair_store<Ref>;

 public:
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Messages of a thread in one window.
  static constexpr unsigned rounds = std::max<unsigned>(1, 64 / sizeof(message_type));
  /// Messages of a window, at most.
  static constexpr unsigned window = rounds * threads;

  /// Bytes of shared memory for parts of `locals` records.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t locals) {
    return layout{locals}.carver.bytes();
  }

  /// `storage` is the same for the whole block.
  WARDEN_DEVICE rounds_worker(Ref const& ref, std::byte* storage)
      : rounds_worker{ref, storage, layout{ref.locals}} {}

  /// All locks free, nothing left over. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const {
    locks_.clear();
    for (unsigned i = simt::thread_rank(); i < lock_count; i += threads) heat_[i] = 0;
    if (simt::thread_rank() == 0) left_count_[0] = 0;
  }
  /// Takes the records of two parts, as pair_store.
  WARDEN_DEVICE void load(part_pair pair) { records_.load(pair); }
  /// The same, but of their records only those of this thread's messages. Collective.
  WARDEN_DEVICE void load(part_pair pair, message_type const (&m)[rounds], unsigned arrived) {
    records_.hold(pair);
    for_each_record(m, arrived, [&](std::uint32_t slot) { records_.load(slot); });
  }
  /// Gives those back. Collective, behind a barrier.
  WARDEN_DEVICE void write_back(message_type const (&m)[rounds], unsigned arrived) const {
    for_each_record(m, arrived, [&](std::uint32_t slot) { records_.write_back(slot); });
  }
  /// Gives them back, as pair_store.
  WARDEN_DEVICE void write_back() const { records_.write_back(); }
  /// As pair_store's.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return records_.slot_of(side, local);
  }

  /// Runs the messages `m[k]` of the bits k of `arrived`; the block has `count` of them. Collective
  /// over the block. False once the run is poisoned.
  WARDEN_DEVICE bool run(message_type const (&m)[rounds], unsigned arrived, std::uint32_t count) {
    // Where all want the same few records nobody need try. Where much of a window was left over, so
    // will be much of the next few.
    unsigned waiting = arrived;
    if (ref_.locals > few_locals)
      waiting = try_all(m, arrived, hot_windows_ == 0 ? patience : little_patience);
    bool const looks = hot_windows_ == 0;
    if (!looks) --hot_windows_;
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
      if ((waiting >> k & 1u) == 0) continue;
      left_[simt::shared_fetch_add(left_count_[0], 1u)] = m[k];
      auto const [a, b] = locks_of(m[k]);
      simt::shared_fetch_add(heat_[a], 1u);
      if (a != b) simt::shared_fetch_add(heat_[b], 1u);
    }
    if (!simt::sync_block_or(waiting != 0)) return true;
    std::uint32_t const left = left_count_[0];
    for (std::uint32_t i = simt::thread_rank(); i < left; i += threads)
      runners_[i] = runner_of(left_[i]);
    simt::sync_block();
    if (simt::sync_block_or(!run_left(left))) return false;
    for (std::uint32_t i = simt::thread_rank(); i < left; i += threads) {
      auto const [a, b] = locks_of(left_[i]);
      simt::shared_store(heat_[a], 0u);
      simt::shared_store(heat_[b], 0u);
    }
    if (simt::thread_rank() == 0) left_count_[0] = 0;
    if (looks && 4 * left > count) hot_windows_ = hot_at_a_time;
    simt::sync_block();
    return true;
  }

 private:
  static constexpr unsigned warps = threads / simt::warp_size;
  static constexpr unsigned lock_count = std::min(4096u, 8 * threads);
  static_assert((lock_count & (lock_count - 1)) == 0,
                "warden: sections on two records are run by a power of two as block_threads");
  using table = lock_table<lock_count>;
  /// Records of a part that are few.
  static constexpr std::uint32_t few_locals = 8;
  /// How often in a row a thread gets no locks for any of its messages before it leaves them.
  static constexpr unsigned patience = 8, little_patience = 2;
  /// Windows of little patience behind one of which much was left.
  static constexpr unsigned hot_at_a_time = 7;
  /// Of a message that has run.
  static constexpr std::uint16_t nobody = 0xffff;
  /// A runner has records in registers, as long as they take few.
  static constexpr bool holds = sizeof(record) <= 32;

  struct layout {
    std::size_t locals;
    arena_carver carver{};
    arena_piece<message_type> left = carver.take<message_type>(window);
    arena_piece<std::uint32_t> locks = carver.take<std::uint32_t>(lock_count);
    arena_piece<std::uint32_t> heat = carver.take<std::uint32_t>(lock_count);
    arena_piece<std::uint32_t> left_count = carver.take<std::uint32_t>(1);
    arena_piece<std::uint16_t> runners = carver.take<std::uint16_t>(window);
    arena_piece<record> records = store::carve(carver, locals);
  };
  /// The locks of a message's two records, which may be one.
  struct lock_pair {
    unsigned a, b;
  };

  WARDEN_DEVICE rounds_worker(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref},
        records_{ref, at.records.in(storage)},
        locks_{at.locks.in(storage)},
        heat_{at.heat.in(storage)},
        left_{at.left.in(storage)},
        runners_{at.runners.in(storage)},
        left_count_{at.left_count.in(storage)} {}

  template <class F>
  WARDEN_DEVICE static void for_each_record(message_type const (&m)[rounds], unsigned arrived,
                                            F f) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
      if ((arrived >> k & 1u) == 0) continue;
      f(m[k].local());
      f(pairs::second_of(m[k]));
    }
  }
  WARDEN_DEVICE static lock_pair locks_of(message_type const& m) {
    return {table::lock_of(m.local()), table::lock_of(pairs::second_of(m))};
  }

  /// Each thread tries for the locks of its messages in turn. Returns the bits of those that did
  /// not get them. No lock is held from one try to the next, so lanes never keep one another
  /// waiting.
  WARDEN_DEVICE unsigned try_all(message_type const (&m)[rounds], unsigned waiting,
                                 unsigned most_in_vain) const {
    WARDEN_NO_UNROLL
    for (unsigned in_vain = 0; waiting != 0 && in_vain < most_in_vain;) {
      unsigned const before = waiting;
      WARDEN_UNROLL
      for (unsigned k = 0; k < rounds; ++k) {
        if ((waiting >> k & 1u) == 0) continue;
        auto const [a, b] = locks_of(m[k]);
        if (!locks_.try_lock(a, b)) continue;
        std::uint32_t const own = m[k].local(), other = pairs::second_of(m[k]);
        apply(m[k], own, *records_.at(own), other, *records_.at(other));
        // Release, by the thread that ran the section.
        simt::fence_block();
        locks_.unlock(a, b);
        waiting &= ~(1u << k);
      }
      in_vain = waiting == before ? in_vain + 1 : 0;
    }
    return waiting;
  }

  /// Of a message's two locks the one that more of what is left wants, and the lower one of two
  /// that are wanted alike: the message belongs to it.
  WARDEN_DEVICE lock_pair hotter_first(message_type const& m) const {
    auto const [a, b] = locks_of(m);
    std::uint32_t const heat_a = heat_[a], heat_b = heat_[b];
    bool const is_a = heat_a != heat_b ? heat_a > heat_b : a <= b;
    return is_a ? lock_pair{a, b} : lock_pair{b, a};
  }
  WARDEN_DEVICE std::uint16_t runner_of(message_type const& m) const {
    return static_cast<std::uint16_t>(hotter_first(m).a % warps);
  }

  /// Each warp runs what is left for it. Over the list again and again: whoever does not get a lock
  /// goes on to others. False once the run is poisoned.
  WARDEN_DEVICE bool run_left(std::uint32_t left) const {
    for (bool all_ran = false; !all_ran;) {
      all_ran = true;
      bool any_ran = false;
      lock_pair missing{0, 0};
      for (std::uint32_t base = 0; base < left; base += simt::warp_size) {
        std::uint32_t const i = base + simt::lane_id();
        bool is_mine = i < left && runners_[i] == simt::warp_rank();
        unsigned mine = simt::ballot(simt::full_warp, is_mine);
        if (mine == 0) continue;
        lock_pair wanted{0, 0};
        if (is_mine) wanted = hotter_first(left_[i]);
        while (mine != 0) {
          unsigned const leader = static_cast<unsigned>(simt::first_bit(mine));
          unsigned const hot = simt::shuffle(simt::full_warp, wanted.a, leader);
          unsigned const group = simt::ballot(simt::full_warp, is_mine && wanted.a == hot);
          mine &= ~group;
          unsigned const ran = run_group(group, leader, base, wanted);
          if ((ran >> simt::lane_id() & 1u) != 0) {
            runners_[i] = nobody;
            is_mine = false;
          }
          any_ran = any_ran || ran != 0;
          if (ran == group) continue;
          all_ran = false;
          unsigned const first = static_cast<unsigned>(simt::first_bit(group & ~ran));
          missing = {hot, simt::shuffle(simt::full_warp, wanted.b, first)};
        }
      }
      // No lock is held here.
      if (!all_ran && !any_ran && !wait_for(missing)) return false;
    }
    return true;
  }

  /// Runs the messages of `group`, lanes of this warp that want one hot lock, as far as their other
  /// locks are free. Returns the lanes whose messages ran. Collective over the warp.
  WARDEN_DEVICE unsigned run_group(unsigned group, unsigned leader, std::uint32_t base,
                                   lock_pair wanted) const {
    unsigned const me = simt::lane_id();
    bool const has_hot = me == leader && locks_.try_lock(wanted.a);
    if (!simt::any(simt::full_warp, has_hot)) return 0;
    // Lanes that want the same other lock have it together.
    bool const wants = (group >> me & 1u) != 0, wants_other = wants && wanted.b != wanted.a;
    unsigned const peers =
        simt::match_any(simt::full_warp, wants_other ? wanted.b : (0x80000000u | me));
    unsigned const first = static_cast<unsigned>(simt::first_bit(peers));
    bool const has_other = wants_other && me == first && locks_.try_lock(wanted.b);
    unsigned const taken = simt::ballot(simt::full_warp, has_other);
    bool const ready = wants && (!wants_other || (taken >> first & 1u) != 0);
    unsigned const runs = simt::ballot(simt::full_warp, ready);
    // A barrier hands what the lanes have acquired to the one that runs, and then what it wrote to
    // those that release.
    simt::sync_warp(simt::full_warp);
    std::uint32_t hot = 0, other = 0;
    bool is_own = false;
    if (ready) {
      message_type const& mine = left_[base + me];
      is_own = table::lock_of(mine.local()) == wanted.a;
      hot = is_own ? mine.local() : pairs::second_of(mine);
      other = is_own ? pairs::second_of(mine) : mine.local();
    }
    for (unsigned left = runs; left != 0;) {
      // Records may share a lock. In registers there is one hot record at a time, on one side of
      // its sections; and either one other record with it, or several, each for one message.
      bool const is_left = (left >> me & 1u) != 0;
      unsigned const next = static_cast<unsigned>(simt::first_bit(left));
      bool const next_wants = (simt::ballot(simt::full_warp, wants_other) >> next & 1u) != 0;
      bool const next_is_own = (simt::ballot(simt::full_warp, is_own) >> next & 1u) != 0;
      std::uint32_t const the_hot = simt::shuffle(simt::full_warp, hot, next);
      std::uint32_t const the_other = simt::shuffle(simt::full_warp, other, next);
      bool const fits = is_left && hot == the_hot && is_own == next_is_own;
      unsigned const fitting = simt::ballot(simt::full_warp, fits);
      bool const is_first = me == static_cast<unsigned>(simt::first_bit(peers & fitting));
      unsigned const alike = simt::ballot(simt::full_warp, fits && other == the_other);
      unsigned const apart = simt::ballot(simt::full_warp, fits && wants_other && is_first);
      bool const in_place = !holds || the_hot == the_other;
      bool const is_alike = !next_wants || 2 * simt::count_bits(alike) >= simt::count_bits(fitting);
      unsigned const now = !holds ? left : in_place || is_alike ? alike : apart;
      if (me == leader) {
        if (in_place) {
          run_in_place(now, base);
        } else if (next_is_own) {
          run_held<true>(now, base, the_hot, is_alike ? the_other : the_hot);
        } else {
          run_held<false>(now, base, the_hot, is_alike ? the_other : the_hot);
        }
      }
      left &= ~now;
    }
    simt::sync_warp(simt::full_warp);
    if (has_other) {
      simt::fence_block();
      locks_.unlock(wanted.b);
    }
    if (has_hot) {
      simt::fence_block();
      locks_.unlock(wanted.a);  // sabotage: runner-keeps
    }
    return runs;
  }

  /// One lane runs the messages of `lanes`, whose locks are held, one after another.
  WARDEN_DEVICE void run_in_place(unsigned lanes, std::uint32_t base) const {
    WARDEN_NO_UNROLL
    for (; lanes != 0; lanes &= lanes - 1) {
      message_type const m = left_[base + static_cast<unsigned>(simt::first_bit(lanes))];
      std::uint32_t const own = m.local(), second = pairs::second_of(m);
      apply(m, own, *records_.at(own), second, *records_.at(second));
    }
  }
  /// The same in registers, where the record of the slot `hot` is the first one of all messages, if
  /// `IsOwn`, or the second one of all. The other one is that of the slot `other`; if that is
  /// `hot`, each has another one.
  template <bool IsOwn>
  WARDEN_DEVICE void run_held(unsigned lanes, std::uint32_t base, std::uint32_t hot,
                              std::uint32_t other) const {
    record x = *records_.at(hot);
    message_type coming[2];
    unsigned count = take_messages(coming, lanes, base);
    if (other != hot) {
      record y = *records_.at(other);
      WARDEN_NO_UNROLL
      while (count != 0) {
        message_type const m[2] = {coming[0], coming[1]};
        unsigned const there = count;
        count = take_messages(coming, lanes, base);
        apply_held<IsOwn>(m[0], hot, x, other, y);
        if (there == 2) apply_held<IsOwn>(m[1], hot, x, other, y);
      }
      *records_.at(other) = y;
    } else {
      WARDEN_NO_UNROLL
      while (count != 0) {
        message_type const m[2] = {coming[0], coming[1]};
        unsigned const there = count;
        // Both are loaded before the first section runs: one wait instead of two.
        std::uint32_t const first = other_of<IsOwn>(m[0]);
        std::uint32_t const second = there == 2 ? other_of<IsOwn>(m[1]) : first;
        record y = *records_.at(first), z = *records_.at(second);
        count = take_messages(coming, lanes, base);
        apply_held<IsOwn>(m[0], hot, x, first, y);
        *records_.at(first) = y;
        if (there != 2) break;
        apply_held<IsOwn>(m[1], hot, x, second, z);
        *records_.at(second) = z;
      }
    }
    *records_.at(hot) = x;
  }
  /// Loads the next messages of `lanes` and takes those away. Returns how many those are.
  WARDEN_DEVICE unsigned take_messages(message_type (&m)[2], unsigned& lanes,
                                       std::uint32_t base) const {
    if (lanes == 0) return 0;
    m[0] = left_[base + static_cast<unsigned>(simt::first_bit(lanes))];
    lanes &= lanes - 1;
    if (lanes == 0) return 1;
    m[1] = left_[base + static_cast<unsigned>(simt::first_bit(lanes))];
    lanes &= lanes - 1;
    return 2;
  }
  /// Runs a message's section on two different records, of which `x` is in slot `hot`.
  template <bool IsOwn>
  WARDEN_DEVICE void apply_held(message_type const& m, std::uint32_t hot, record& x,
                                std::uint32_t other, record& y) const {
    if constexpr (IsOwn) {
      apply(m, hot, x, other, y);
    } else {
      apply(m, other, y, hot, x);
    }
  }
  template <bool IsOwn>
  WARDEN_DEVICE static std::uint32_t other_of(message_type const& m) {
    return IsOwn ? pairs::second_of(m) : m.local();
  }

  /// Runs a message's section on the records of these slots, or their copies.
  WARDEN_DEVICE void apply(message_type const& m, std::uint32_t own_slot, record& own,
                           std::uint32_t other_slot, record& other) const {
    auto* const identity = records_.address_of(own_slot);
    simt::section_enter(identity);
    if (other_slot != own_slot) simt::section_enter(records_.address_of(other_slot));
    format::visit(m, [&](auto const& sent) {
      if constexpr (is_paired<std::remove_cvref_t<decltype(sent)>>) {
        static_cast<void>(run_section(sent.section(), own, other, ref_.sections_context));
      } else {
        static_cast<void>(run_section(sent, own, ref_.sections_context));
      }
    });
    if (other_slot != own_slot) simt::section_leave(records_.address_of(other_slot));
    simt::section_leave(identity);
  }

  /// Until both locks look free; whoever has one runs or tries. Collective over the warp. False
  /// once the run is poisoned.
  WARDEN_DEVICE bool wait_for(lock_pair wanted) const {
    bool const stopped =
        simt::lane_id() == 0 &&
        !ref_.wait_until([&] { return locks_.is_free(wanted.a) && locks_.is_free(wanted.b); },
                         [&](auto watch) {
                           watch(locks_.word(wanted.a));
                           watch(locks_.word(wanted.b));
                         },
                         wait_kind::lock, simt::block_rank(), wanted.a);
    return !simt::any(simt::full_warp, stopped);
  }

  Ref const& ref_;
  store records_;
  table locks_;
  simt::shared_span<std::uint32_t> heat_;        ///< [lock] of what is left, how many want it
  simt::shared_span<message_type> left_;         ///< messages that found no lock free
  simt::shared_span<std::uint16_t> runners_;     ///< [message] the warp to which it belongs
  simt::shared_span<std::uint32_t> left_count_;  ///< of them
  unsigned hot_windows_ = 0;                     ///< to come, of little patience
};

}  // namespace executor
WARDEN_NAMESPACE_END
