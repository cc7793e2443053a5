// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who runs the sections that many of a block's messages keep from running together: *runners*, a
/// warp for each lock.
///
/// A message that wants a hot lock belongs to that one of its two locks that more of what is left
/// wants, and the lower one of two that are wanted alike; a lock to a warp. So all sections on a
/// hot record come to one warp, which takes the locks of their other records together and has one
/// lane run them in turn. A runner gives its record back before it tries for others, and waits only
/// while it holds none, so that two of them never wait for one another.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/warp_scan.cuh>
#include <warden/detail/execute/lock_pair.cuh>
#include <warden/detail/pairs/few_records.cuh>
#include <warden/detail/pairs/pair_sections.cuh>
#include <warden/diagnosis.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs the sections of a window in a tile pair of `Ref`, a rounds_ref; each thread has up to
/// `Rounds` messages of a window.
template <class Ref, unsigned Rounds>
class hot_record_warps {
  using sections = pair_sections<Ref>;
  using message_type = typename sections::message_type;
  using table = typename sections::table;
  using first_record = typename Ref::record;
  using second_record = typename Ref::second_record;
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr unsigned warps = threads / simt::warp_size;
  static constexpr unsigned lock_count = sections::lock_count;
  /// A word for each lock; or for each pair of few records, and the end.
  static constexpr unsigned heat_count = std::max(lock_count, few_pairs + 1);
  /// What a runner does with a message: its hot record is the first one, or the second, and the
  /// other one seldom the same; or many are on the same two.
  static constexpr unsigned is_first = 0, is_second = 1, is_alike = 2, kinds = 3;
  /// In this order messages are sorted: by runner, then by kind.
  static constexpr unsigned keys = kinds * warps;

 public:
  /// The pieces of shared memory that it needs.
  struct pieces {
    arena_piece<message_type> left;            ///< a window's messages
    arena_piece<first_record> firsts;          ///< a warp's records, in the order of its messages
    arena_piece<second_record> seconds;        ///< the same of another array's
    arena_piece<std::uint32_t> heat;           ///< of each lock
    arena_piece<std::uint32_t> counts;         ///< of each key
    arena_piece<std::uint32_t> begins;         ///< of each key, and the end
    arena_piece<std::uint32_t> locks;          ///< all
    typename sections::store::pieces records;  ///< those that the block holds
  };
  /// The pieces for parts of these sizes, and windows of `used` rounds.
  WARDEN_HOST_DEVICE static constexpr pieces carve(arena_carver& carver, part_sizes sizes,
                                                   unsigned used) {
    auto const firsts = carver.take<first_record>(sections::holds ? threads : 0);
    auto const seconds =
        carver.take<second_record>(sections::holds && Ref::two_arrays ? threads : 0);
    auto const heat = carver.take<std::uint32_t>(heat_count);
    auto const counts = carver.take<std::uint32_t>(keys);
    auto const begins = carver.take<std::uint32_t>(keys + 1);
    auto const locks = carver.take<std::uint32_t>(lock_count);
    auto const records = sections::store::carve(carver, sizes);
    // Last: the offsets of the others do not depend on the window's size.
    auto const left = carver.take<message_type>(std::size_t{used} * threads);
    return {left, firsts, seconds, heat, counts, begins, locks, records};
  }

  /// `storage` is the shared memory in which `at` was carved, the same for the whole block.
  WARDEN_DEVICE hot_record_warps(Ref const& ref, pieces const& at, std::byte* storage)
      : ref_{ref},
        sections_{ref, at.records, storage},
        locks_{at.locks.in(storage)},
        left_{at.left.in(storage)},
        firsts_{at.firsts.in(storage)},
        seconds_{at.seconds.in(storage)},
        heat_{at.heat.in(storage)},
        counts_{at.counts.in(storage)},
        begins_{at.begins.in(storage)} {}

  /// How sections run.
  WARDEN_DEVICE sections& all_sections() { return sections_; }
  /// The same.
  WARDEN_DEVICE sections const& all_sections() const { return sections_; }
  /// The locks.
  WARDEN_DEVICE table const& locks() const { return locks_; }

  /// All locks free, nothing left over. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const {
    locks_.clear();
    forget();
    for (unsigned i = simt::thread_rank(); i < keys; i += threads) counts_[i] = 0;
  }

  /// No lock is hot. Collective; a block barrier follows.
  WARDEN_DEVICE void forget() const {
    for (unsigned i = simt::thread_rank(); i < heat_count; i += threads) heat_[i] = 0;
  }
  /// Whether many sections that waited for the lock were left here since.
  WARDEN_DEVICE bool is_hot(unsigned lock) const { return heat_[lock] != 0; }

  /// Takes those of the messages `m[k]` of the bits k of `waiting` that want a hot lock. Returns
  /// the bits of the others. Collective over the block; a block barrier follows, and then `run`.
  WARDEN_DEVICE unsigned take(message_type const (&m)[Rounds], unsigned waiting) const {
    for_each(m, waiting, [&](message_type const& one, unsigned) {
      auto const [a, b] = sections::locks_of(one);
      simt::shared_fetch_add(heat_[a], 1u);
      if (a != b) simt::shared_fetch_add(heat_[b], 1u);
    });
    simt::sync_block();
    // A message's key, and how many of that key were before it.
    static_assert(Rounds * threads <= 1u << 16);
    std::uint32_t places[Rounds];
    unsigned taken = 0;
    for_each(m, waiting, [&](message_type const& one, unsigned k) {
      unsigned const key = key_of(one);
      if (key == nobody) return;
      taken |= 1u << k;
      places[k] = key << 16 | simt::shared_fetch_add(counts_[key], 1u);
    });
    simt::sync_block();
    if (simt::warp_rank() == 0) add_up();
    simt::sync_block();
    for_each(m, taken, [&](message_type const& one, unsigned k) {
      left_[begins_[places[k] >> 16] + (places[k] & 0xffff)] = one;
    });
    for_each(m, waiting, [&](message_type const& one, unsigned) {
      auto const [a, b] = sections::locks_of(one);
      cool_down(a);
      cool_down(b);
    });
    return waiting & ~taken;  // mutation: taken
  }
  /// Runs what this thread's warp has to run of what was taken. False once the run is poisoned.
  /// Collective over the warp; a block barrier follows.
  WARDEN_DEVICE bool run() const {
    return run_kind<is_alike>() && run_kind<is_first>() && run_kind<is_second>();
  }

  /// Runs the messages `m[k]` of the bits k of `arrived`, whose slots are below `few_slots`: one
  /// thread all of them, without locks. Collective over the block; a block barrier follows.
  WARDEN_DEVICE void run_by_one(message_type const (&m)[Rounds], unsigned arrived) const {
    run_by_pair<threads>(sections_, m, arrived, left_, heat_);
  }

  /// Until both locks look free; whoever has one runs or tries. One thread. False once the run is
  /// poisoned.
  WARDEN_DEVICE bool wait_for(lock_pair wanted) const {
    return wait_for_locks(ref_, locks_, wanted, simt::block_rank());
  }

 private:
  template <class F>
  WARDEN_DEVICE static void for_each(message_type const (&m)[Rounds], unsigned which, F f) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < Rounds; ++k)
      if ((which >> k & 1u) != 0) f(m[k], k);
  }
  /// From a count to whether that was many. Several threads do so at once: all to the same.
  WARDEN_DEVICE void cool_down(unsigned lock) const {
    simt::shared_store(heat_[lock], simt::shared_load(heat_[lock]) >= many ? hot : 0u);
  }
  /// A lock that so many sections wait for is hot, which is more than any count.
  static constexpr std::uint32_t many = 16, hot = 1u << 31;
  /// In place of a key: neither lock is hot.
  static constexpr unsigned nobody = ~0u;

  /// To whom a message belongs, and what that one does with it.
  WARDEN_DEVICE unsigned key_of(message_type const& m) const {
    auto const [a, b] = sections::locks_of(m);
    std::uint32_t const heat_a = heat_[a], heat_b = heat_[b];
    bool const is_a = heat_a != heat_b ? heat_a > heat_b : a <= b;
    std::uint32_t const more = is_a ? heat_a : heat_b, less = is_a ? heat_b : heat_a;
    if (more < many) return nobody;
    // A batch has no record twice. So those with one that every few of them want go together.
    bool const alike = a == b || (less & ~hot) * share >= (more & ~hot);
    return (is_a ? a : b) % warps * kinds + (alike ? is_alike : is_a ? is_first : is_second);
  }
  /// See there.
  static constexpr std::uint32_t share = 8;

  /// Turns counts into places. One warp.
  WARDEN_DEVICE void add_up() const {
    std::uint32_t sum = 0;
    WARDEN_NO_UNROLL
    for (unsigned base = 0; base < keys; base += simt::warp_size) {
      unsigned const key = base + simt::lane_id();
      std::uint32_t const count = key < keys ? counts_[key] : 0, before = warp_sum_before(count);
      if (key < keys) {
        begins_[key] = sum + before;
        counts_[key] = 0;  // mutation: key-counts
      }
      sum += simt::shuffle(simt::full_warp, before + count, simt::warp_size - 1);
    }
    if (simt::lane_id() == 0) begins_[keys] = sum;
  }

  /// Runs this warp's messages of one kind. Each lane has one in hand until it has run: those whose
  /// locks are not free are tried again with others. False once the run is poisoned. Collective
  /// over the warp.
  template <unsigned Kind>
  WARDEN_DEVICE bool run_kind() const {
    unsigned const me = simt::lane_id(), key = simt::warp_rank() * kinds + Kind;
    std::uint32_t const begin = begins_[key], end = begins_[key + 1];
    std::uint32_t next = begin;
    message_type mine{};
    bool waits = false;
    while (true) {
      // The lanes without one take the next ones.
      unsigned const idle = simt::ballot(simt::full_warp, !waits);
      std::uint32_t const place =
          next + static_cast<std::uint32_t>(simt::count_bits(idle & ((1u << me) - 1)));
      if (!waits && place < end) {
        mine = left_[place];
        waits = true;
      }
      next += static_cast<std::uint32_t>(simt::count_bits(idle));
      unsigned const all = simt::ballot(simt::full_warp, waits);
      if (all == 0) return true;
      std::uint32_t const own = mine.local(), second = sections::second_of(mine);
      unsigned ran = 0;
      for (unsigned untried = all; untried != 0;) {
        // One hot record at a time, or one pair of records.
        unsigned const leader = static_cast<unsigned>(simt::first_bit(untried));
        std::uint32_t const hot_own = simt::shuffle(simt::full_warp, own, leader);
        std::uint32_t const hot_second = simt::shuffle(simt::full_warp, second, leader);
        bool const fits = waits && (Kind == is_second || own == hot_own) &&
                          (Kind == is_first || second == hot_second);
        unsigned const group = simt::ballot(simt::full_warp, fits);
        untried &= ~group;
        if constexpr (Kind == is_alike) {
          ran |= run_alike(group, leader, begin, mine);
        } else if constexpr (Kind == is_first) {
          ran |= run_apart<true>(group, leader, begin, mine, hot_own, second);
        } else {
          ran |= run_apart<false>(group, leader, begin, mine, hot_second, own);
        }
      }
      if ((ran >> me & 1u) != 0) waits = false;  // mutation: put-off
      if (ran != 0) continue;
      // No lock is held here.
      bool const stopped =
          me == static_cast<unsigned>(simt::first_bit(all)) && !wait_for(sections::locks_of(mine));
      if (simt::any(simt::full_warp, stopped)) return false;
    }
  }

  /// Runs the messages `mine` of `group`, lanes of this warp that have the same two records.
  /// `left_[begin...]` has room for them. Returns the lanes whose messages ran. Collective over the
  /// warp.
  WARDEN_DEVICE unsigned run_alike(unsigned group, unsigned leader, std::uint32_t begin,
                                   message_type const& mine) const {
    unsigned const me = simt::lane_id();
    auto const [a, b] = sections::locks_of(mine);
    bool const has_both = me == leader && locks_.try_lock(a, b);  // mutation: alike-locks
    if (!simt::any(simt::full_warp, has_both)) return 0;
    before_reuse();
    if ((group >> me & 1u) != 0) left_[begin + rank_in(group)] = mine;
    simt::sync_warp(simt::full_warp);
    if (me == leader)
      sections_.run_alike(&left_[begin], static_cast<unsigned>(simt::count_bits(group)));
    simt::sync_warp(simt::full_warp);
    if (has_both) {
      simt::fence_block();  // mutation: alike-fence
      locks_.unlock(a, b);
    }
    return group;
  }

  /// Runs the messages `mine` of `group`, lanes of this warp that have the record `hot` in common,
  /// as far as the locks of their `other` records are free: one lane in turn. `left_[begin...]` has
  /// room for them. Returns the lanes whose messages ran. Collective over the warp.
  template <bool IsFirst>
  WARDEN_DEVICE unsigned run_apart(unsigned group, unsigned leader, std::uint32_t begin,
                                   message_type const& mine, std::uint32_t hot,
                                   std::uint32_t other) const {
    unsigned const me = simt::lane_id();
    bool const has_hot = me == leader && locks_.try_lock(table::lock_of(hot));
    if (!simt::any(simt::full_warp, has_hot)) return 0;
    // One of those that want the same lock gets it: so no record is among them twice.
    bool const wants = (group >> me & 1u) != 0;
    bool const ready = wants && locks_.try_lock(table::lock_of(other));  // mutation: other-lock
    unsigned const all = simt::ballot(simt::full_warp, ready);
    // The lanes bring the records together, so that the one that runs has nothing else to do.
    auto* const others = [&] {
      std::uint32_t const first = simt::warp_rank() * simt::warp_size;
      if constexpr (!sections::holds) {
        return static_cast<typename sections::template record_of<!IsFirst>*>(nullptr);
      } else if constexpr (IsFirst && Ref::two_arrays) {
        return &seconds_[first];
      } else {
        return &firsts_[first];
      }
    }();
    unsigned const rank = rank_in(all);
    before_reuse();
    if (ready) {
      left_[begin + rank] = mine;
      if constexpr (sections::holds) others[rank] = *sections_.template at<!IsFirst>(other);
    }
    // A barrier hands what the lanes have acquired to the one that runs, and then what that one
    // wrote to those that release.
    simt::sync_warp(simt::full_warp);
    if (me == leader && all != 0) {
      sections_.template run_apart<IsFirst>(&left_[begin], others,
                                            static_cast<unsigned>(simt::count_bits(all)), hot);
    }
    simt::sync_warp(simt::full_warp);
    if (ready) {
      if constexpr (sections::holds)
        *sections_.template at<!IsFirst>(other) = others[rank];  // mutation: brought-back
      simt::fence_block();                                       // mutation: other-fence
      locks_.unlock(table::lock_of(other));
    }
    if (has_hot) {
      simt::fence_block();
      locks_.unlock(table::lock_of(hot));  // mutation: runner-keeps
    }
    return all;
  }

  /// Orders what the lanes have read before what any of them writes in its place: votes and
  /// shuffles order no memory. There are two such pairs. In `run_kind` a lane reads its message
  /// from `left_`, and another lane writes there in `run_alike` or `run_apart`. At the end of
  /// `run_apart` a lane reads its record from `others`, and another lane writes there for the next
  /// group. Collective over the warp.
  WARDEN_DEVICE static void before_reuse() {
    simt::sync_warp(simt::full_warp);  // mutation: reuse-barrier
  }

  /// How many of these lanes come before this one.
  WARDEN_DEVICE static unsigned rank_in(unsigned lanes) {
    return static_cast<unsigned>(simt::count_bits(lanes & ((1u << simt::lane_id()) - 1)));
  }

  Ref const& ref_;
  sections sections_;
  table locks_;
  simt::shared_span<message_type> left_;      ///< what is left of a window, by key
  simt::shared_span<first_record> firsts_;    ///< [warp][32] records that are brought together
  simt::shared_span<second_record> seconds_;  ///< the same of the second array
  simt::shared_span<std::uint32_t> heat_;     ///< [lock] of what is left, how many want it
  simt::shared_span<std::uint32_t> counts_;   ///< [key] of what is left, how many have it
  simt::shared_span<std::uint32_t> begins_;   ///< [key, and the end] where those are
};

}  // namespace detail
WARDEN_NAMESPACE_END
