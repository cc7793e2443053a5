// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a block runs the sections between the records of two parts that it holds: by locks in shared
/// memory as long as few threads want one record, and one after another by one thread where many
/// do.
///
/// Every message is tried a few times by the thread that has it: both locks or none, so nobody
/// waits for a lock while it holds another. What is left then is for *runners*: a message belongs
/// to that one of its two locks that more of what is left wants, and the lock to a warp. So all
/// sections on a hot record are found by one warp, which takes the locks of their other records
/// together and has one lane run them in turn, the hot record in registers. A runner gives its
/// record back before it tries for others, so that two of them never wait for one another.
#pragma once

#include <warden/block/arena_carver.cuh>
#include <warden/block/lock_table.cuh>
#include <warden/block/pair_store.cuh>
#include <warden/channel/log_pairs.cuh>
#include <warden/launch/section_runner.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace executor {

/// Runs the sections of one window after another. `Ref` is a rounds_ref; messages have slots in
/// place of ids. See rounds_server.
template <class Ref>
class rounds_worker {
  using message_type = typename Ref::message_type;
  using record = typename Ref::record;
  using pairs = pair_words<typename Ref::format>;
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
  /// Gives them back, as pair_store.
  WARDEN_DEVICE void write_back() const { records_.write_back(); }
  /// As pair_store's.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return records_.slot_of(side, local);
  }

  /// Runs the messages `m[k]` of the bits k of `arrived`; the block has `count` of them. Collective
  /// over the block. False once the run is poisoned.
  WARDEN_DEVICE bool run(message_type const (&m)[rounds], unsigned arrived, std::uint32_t count) {
    // Where most of a window was left over, so will be that of the next few.
    bool const tries = untried_ == 0;
    unsigned const waiting = tries ? try_all(m, arrived) : arrived;
    if (!tries) --untried_;
    std::uint32_t places[rounds];
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
      if ((waiting >> k & 1u) == 0) continue;
      places[k] = simt::shared_fetch_add(left_count_[0], 1u);
      left_[places[k]] = m[k];
      auto const [a, b] = locks_of(m[k]);
      simt::shared_fetch_add(heat_[a], 1u);
      if (a != b) simt::shared_fetch_add(heat_[b], 1u);
    }
    if (!simt::sync_block_or(waiting != 0)) return true;
    std::uint32_t const left = left_count_[0];
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
      if (waiting >> k & 1u) runners_[places[k]] = runner_of(m[k]);
    }
    simt::sync_block();
    if (simt::sync_block_or(!run_left(left))) return false;
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) {
      if ((waiting >> k & 1u) == 0) continue;
      auto const [a, b] = locks_of(m[k]);
      simt::shared_store(heat_[a], 0u);
      simt::shared_store(heat_[b], 0u);
    }
    if (simt::thread_rank() == 0) left_count_[0] = 0;
    if (tries && 4 * left > count) untried_ = untried_windows;
    simt::sync_block();
    return true;
  }

 private:
  static constexpr unsigned warps = threads / simt::warp_size;
  static constexpr unsigned lock_count = std::min(4096u, 8 * threads);
  static_assert((lock_count & (lock_count - 1)) == 0,
                "warden: sections on two records are run by a power of two as block_threads");
  using table = lock_table<lock_count>;
  /// Tries of each message before it is left to a runner.
  static constexpr unsigned tries_at_most = 6;
  /// Windows that are not tried behind one of which most was left.
  static constexpr unsigned untried_windows = 7;
  /// Of a message that has run.
  static constexpr std::uint16_t nobody = 0xffff;
  /// Records in registers, as long as they take few.
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

  WARDEN_DEVICE static lock_pair locks_of(message_type const& m) {
    return {table::lock_of(m.local()), table::lock_of(pairs::second_of(m))};
  }

  /// Each thread tries for the locks of its messages in turn. Returns the bits of those that did
  /// not get them. No lock is held from one try to the next, so lanes never keep one another
  /// waiting.
  WARDEN_DEVICE unsigned try_all(message_type const (&m)[rounds], unsigned waiting) const {
    WARDEN_NO_UNROLL
    for (unsigned t = 0; waiting != 0 && t < tries_at_most; ++t) {
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
    // The barrier hands what the lanes have acquired to the one that runs, and then what it wrote
    // to those that release.
    simt::sync_warp(simt::full_warp);
    if (me == leader && runs != 0) run_in_turn(runs, base, wanted.a);
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

  /// One lane runs the messages of the lanes `runs`, whose locks are held, one after another.
  WARDEN_DEVICE void run_in_turn(unsigned runs, std::uint32_t base, unsigned hot_lock) const {
    auto const message_of = [&](unsigned lanes) -> message_type const& {
      return left_[base + static_cast<unsigned>(simt::first_bit(lanes))];
    };
    message_type m = message_of(runs);
    std::uint32_t held = hot_slot(m, hot_lock);
    [[maybe_unused]] record hot = *records_.at(held);
    WARDEN_NO_UNROLL
    while (true) {
      runs &= runs - 1;
      message_type next = m;
      if (runs != 0) next = message_of(runs);
      std::uint32_t const own = m.local(), second = pairs::second_of(m);
      if constexpr (holds) {
        // Records may share a lock.
        std::uint32_t const slot = hot_slot(m, hot_lock);
        if (slot != held) {
          *records_.at(held) = hot;
          hot = *records_.at(slot);
          held = slot;
        }
        if (own == second) {
          apply(m, own, hot, own, hot);
        } else if (own == slot) {
          apply(m, own, hot, second, *records_.at(second));
        } else {
          apply(m, own, *records_.at(own), second, hot);
        }
      } else {
        apply(m, own, *records_.at(own), second, *records_.at(second));
      }
      if (runs == 0) break;
      m = next;
    }
    if constexpr (holds) *records_.at(held) = hot;
  }
  /// The record of a message that has that lock; its own if both do.
  WARDEN_DEVICE static std::uint32_t hot_slot(message_type const& m, unsigned lock) {
    return table::lock_of(m.local()) == lock ? m.local() : pairs::second_of(m);
  }

  /// Runs a message's section on the records of these slots, or their copies.
  WARDEN_DEVICE void apply(message_type const& m, std::uint32_t own_slot, record& own,
                           std::uint32_t other_slot, record& other) const {
    auto* const identity = records_.address_of(own_slot);
    simt::section_enter(identity);
    if (other_slot != own_slot) simt::section_enter(records_.address_of(other_slot));
    typename Ref::reply_type nobody_asks;
    section_runner{ref_}.apply(m, own, other, nobody_asks);
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
  unsigned untried_ = 0;                         ///< windows before the next one that is tried
};

}  // namespace executor
WARDEN_NAMESPACE_END
