// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who runs the sections that many of a block's messages keep from running together: *runners*, a
/// warp for each lock.
///
/// A message belongs to that one of its two locks that more of what is left wants, and the lower
/// one of two that are wanted alike; a lock to a warp. So all sections on a hot record come to one
/// warp, which takes the locks of their other records together and has one lane run them in turn. A
/// runner gives its record back before it tries for others, so that two of them never wait for one
/// another.
#pragma once

#include <warden/block/arena_carver.cuh>
#include <warden/block/warp_scan.cuh>
#include <warden/diagnosis.hpp>
#include <warden/executor/few_records.cuh>
#include <warden/executor/pair_sections.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace executor {

/// For `Ref`, a rounds_ref; each thread has up to `Rounds` messages of a window.
template <class Ref, unsigned Rounds>
class pair_runners {
  using sections = pair_sections<Ref>;
  using message_type = typename sections::message_type;
  using lock_pair = typename sections::lock_pair;
  using table = typename sections::table;
  using first_record = typename Ref::record;
  using second_record = typename Ref::second_record;
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr unsigned warps = threads / simt::warp_size;
  static constexpr unsigned lock_count = sections::lock_count;

 public:
  /// The pieces of shared memory that it needs.
  struct pieces {
    arena_piece<message_type> left;            ///< a window's messages
    arena_piece<first_record> firsts;          ///< a warp's records, in the order of its messages
    arena_piece<second_record> seconds;        ///< the same of another array's
    arena_piece<std::uint32_t> heat;           ///< of each lock
    arena_piece<std::uint32_t> counts;         ///< of each warp
    arena_piece<std::uint32_t> locks;          ///< all
    typename sections::store::pieces records;  ///< those that the block holds
  };
  /// Those, for parts of these sizes.
  WARDEN_HOST_DEVICE static constexpr pieces carve(arena_carver& carver, part_sizes sizes) {
    auto const left = carver.take<message_type>(std::size_t{Rounds} * threads);
    auto const firsts = carver.take<first_record>(sections::holds ? threads : 0);
    auto const seconds =
        carver.take<second_record>(sections::holds && Ref::two_arrays ? threads : 0);
    auto const heat = carver.take<std::uint32_t>(lock_count);
    auto const counts = carver.take<std::uint32_t>(warps);
    auto const locks = carver.take<std::uint32_t>(lock_count);
    return {left, firsts, seconds, heat, counts, locks, sections::store::carve(carver, sizes)};
  }

  /// `storage` is the shared memory in which `at` was carved, the same for the whole block.
  WARDEN_DEVICE pair_runners(Ref const& ref, pieces const& at, std::byte* storage)
      : ref_{ref},
        sections_{ref, at.records, storage},
        locks_{at.locks.in(storage)},
        left_{at.left.in(storage)},
        firsts_{at.firsts.in(storage)},
        seconds_{at.seconds.in(storage)},
        heat_{at.heat.in(storage)},
        counts_{at.counts.in(storage)} {}

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
    for (unsigned i = simt::thread_rank(); i < warps; i += threads) counts_[i] = 0;
  }

  /// No lock is hot. Collective; a block barrier follows.
  WARDEN_DEVICE void forget() const {
    for (unsigned i = simt::thread_rank(); i < lock_count; i += threads) heat_[i] = 0;
  }
  /// Whether many sections that waited for the lock were left here since.
  WARDEN_DEVICE bool is_hot(unsigned lock) const { return heat_[lock] != 0; }

  /// Runs the messages `m[k]` of the bits k of `waiting`, by locks. False once the run is poisoned.
  /// Collective over the block; a block barrier follows.
  WARDEN_DEVICE bool run(message_type const (&m)[Rounds], unsigned waiting) const {
    for_each(m, waiting, [&](message_type const& one, unsigned) {
      auto const [a, b] = sections::locks_of(one);
      simt::shared_fetch_add(heat_[a], 1u);
      if (a != b) simt::shared_fetch_add(heat_[b], 1u);
    });
    simt::sync_block();
    std::uint32_t ranks[Rounds];
    for_each(m, waiting, [&](message_type const& one, unsigned k) {
      ranks[k] = simt::shared_fetch_add(counts_[runner_of(one)], 1u);
    });
    simt::sync_block();
    // Each warp adds up for itself how many belong to those before each.
    unsigned const me = simt::lane_id();
    std::uint32_t const count = me < warps ? counts_[me] : 0;
    std::uint32_t const before = warp_sum_before(count);
    WARDEN_UNROLL
    for (unsigned k = 0; k < Rounds; ++k) {
      bool const waits = (waiting >> k & 1u) != 0;
      std::uint32_t const begin =
          simt::shuffle(simt::full_warp, before, waits ? runner_of(m[k]) : 0);
      if (waits) left_[begin + ranks[k]] = m[k];
    }
    std::uint32_t const mine = simt::shuffle(simt::full_warp, count, simt::warp_rank());
    std::uint32_t const begin = simt::shuffle(simt::full_warp, before, simt::warp_rank());
    simt::sync_block();
    if (simt::sync_block_or(!run_mine(begin, mine))) return false;
    for_each(m, waiting, [&](message_type const& one, unsigned) {
      auto const [a, b] = sections::locks_of(one);
      cool_down(a);
      cool_down(b);
    });
    if (simt::thread_rank() < warps) counts_[simt::thread_rank()] = 0;
    return true;
  }

  /// Runs the messages `m[k]` of the bits k of `arrived`, whose slots are below `few_slots`: one
  /// thread all of them, without locks. Collective over the block; a block barrier follows.
  WARDEN_DEVICE void run_by_one(message_type const (&m)[Rounds], unsigned arrived) const {
    run_by_pair<threads>(sections_, m, arrived, left_, heat_);
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

  /// A message's two locks, first the one to which it belongs.
  WARDEN_DEVICE lock_pair hotter_first(message_type const& m) const {
    auto const [a, b] = sections::locks_of(m);
    std::uint32_t const heat_a = heat_[a], heat_b = heat_[b];
    bool const is_a = heat_a != heat_b ? heat_a > heat_b : a <= b;
    return is_a ? lock_pair{a, b} : lock_pair{b, a};
  }
  WARDEN_DEVICE unsigned runner_of(message_type const& m) const {
    return hotter_first(m).a % warps;
  }

  /// Runs this warp's messages, `count` from `begin` on. Over them again and again: what does not
  /// get a lock is put off. False once the run is poisoned.
  WARDEN_DEVICE bool run_mine(std::uint32_t begin, std::uint32_t count) const {
    unsigned const me = simt::lane_id();
    while (count != 0) {
      std::uint32_t kept = 0;
      lock_pair missing{0, 0};
      for (std::uint32_t base = 0; base < count; base += simt::warp_size) {
        bool const is_one = base + me < count;
        message_type const mine = left_[begin + base + (is_one ? me : 0)];
        lock_pair const wanted = hotter_first(mine);
        unsigned put_off = 0;
        for (unsigned all = simt::ballot(simt::full_warp, is_one); all != 0;) {
          unsigned const leader = static_cast<unsigned>(simt::first_bit(all));
          unsigned const hot = simt::shuffle(simt::full_warp, wanted.a, leader);
          unsigned const group = simt::ballot(simt::full_warp, is_one && wanted.a == hot);
          all &= ~group;
          put_off |= group & ~run_group(group, leader, begin + base, mine, wanted);
        }
        if (put_off == 0) continue;
        unsigned const first = static_cast<unsigned>(simt::first_bit(put_off));
        missing = {simt::shuffle(simt::full_warp, wanted.a, first),
                   simt::shuffle(simt::full_warp, wanted.b, first)};
        // To the front, over what has been read.
        unsigned const before = put_off & ((1u << me) - 1);
        std::uint32_t const place = begin + kept + static_cast<unsigned>(simt::count_bits(before));
        if ((put_off >> me & 1u) != 0) left_[place] = mine;  // sabotage: put-off
        kept += static_cast<unsigned>(simt::count_bits(put_off));
        simt::sync_warp(simt::full_warp);
      }
      // No lock is held here.
      if (kept == count && !wait_for(missing)) return false;
      count = kept;
    }
    return true;
  }

  /// Runs the messages of `group`, lanes of this warp that want one hot lock, as far as their other
  /// locks are free; `mine` is `left_[base + lane]`. Returns the lanes whose messages ran.
  /// Collective over the warp.
  WARDEN_DEVICE unsigned run_group(unsigned group, unsigned leader, std::uint32_t base,
                                   message_type const& mine, lock_pair wanted) const {
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
    // A barrier hands what the lanes have acquired to those that run, and then what they wrote to
    // those that release.
    simt::sync_warp(simt::full_warp);
    run_ready(runs, base, mine, wanted.a);
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

  /// Runs the messages `mine` of the lanes `ready`, whose locks are held: one lane those with one
  /// hot record in turn. `left_[base...]` is this warp's. Collective over the warp, with barriers
  /// before and after it.
  WARDEN_DEVICE void run_ready(unsigned ready, std::uint32_t base, message_type const& mine,
                               unsigned hot_lock) const {
    unsigned const me = simt::lane_id();
    std::uint32_t const own = mine.local(), second = sections::second_of(mine);
    bool const is_first = table::lock_of(own) == hot_lock;
    std::uint32_t const hot = is_first ? own : second, other = is_first ? second : own;
    for (unsigned left = ready; left != 0;) {
      // Records may share the hot lock: one hot record at a time, and on one side of its sections;
      // either with one other record, or with several, each in one section.
      unsigned const next = static_cast<unsigned>(simt::first_bit(left));
      std::uint32_t const the_hot = simt::shuffle(simt::full_warp, hot, next);
      std::uint32_t const the_other = simt::shuffle(simt::full_warp, other, next);
      bool const next_is_first = (simt::ballot(simt::full_warp, is_first) >> next & 1u) != 0;
      bool const fits = (left >> me & 1u) != 0 && hot == the_hot && is_first == next_is_first;
      unsigned const fitting = simt::ballot(simt::full_warp, fits);
      unsigned now = simt::ballot(simt::full_warp, fits && other == the_other);
      bool const is_apart = sections::holds && the_other != the_hot &&
                            2 * simt::count_bits(now) < simt::count_bits(fitting);
      if (is_apart) {
        bool const is_pair = fits && other != the_hot;
        unsigned const peers =
            simt::match_any(simt::full_warp, is_pair ? other : (0x80000000u | me));
        now = simt::ballot(simt::full_warp,
                           is_pair && me == static_cast<unsigned>(simt::first_bit(peers)));
      }
      left &= ~now;
      auto const rank = static_cast<unsigned>(simt::count_bits(now & ((1u << me) - 1)));
      auto const count = static_cast<unsigned>(simt::count_bits(now));
      bool const is_now = (now >> me & 1u) != 0;
      if (is_now) left_[base + rank] = mine;
      if (!is_apart) {
        simt::sync_warp(simt::full_warp);
        if (me == 0) sections_.run_alike(&left_[base], count);
        simt::sync_warp(simt::full_warp);
      } else if (next_is_first) {
        run_apart<true>(is_now, base, rank, count, the_hot, other);
      } else {
        run_apart<false>(is_now, base, rank, count, the_hot, other);
      }
    }
  }
  /// The messages `left_[base...]`, those of the lanes with `is_now` by rank: each on another
  /// record beside the hot one. Collective over the warp.
  template <bool IsFirst>
  WARDEN_DEVICE void run_apart(bool is_now, std::uint32_t base, unsigned rank, unsigned count,
                               std::uint32_t hot, std::uint32_t other) const {
    // The lanes bring the records together, so that the one that runs has nothing else to do.
    auto* const others = [&] {
      std::uint32_t const first = simt::warp_rank() * simt::warp_size;
      if constexpr (IsFirst && Ref::two_arrays) {
        return &seconds_[first];
      } else {
        return &firsts_[first];
      }
    }();
    if (is_now) others[rank] = *sections_.template at<!IsFirst>(other);
    simt::sync_warp(simt::full_warp);
    if (simt::lane_id() == 0)
      sections_.template run_apart<IsFirst>(&left_[base], others, count, hot);
    simt::sync_warp(simt::full_warp);
    if (is_now) *sections_.template at<!IsFirst>(other) = others[rank];  // sabotage: brought-back
    simt::sync_warp(simt::full_warp);
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
  sections sections_;
  table locks_;
  simt::shared_span<message_type> left_;      ///< what is left of a window, by runner
  simt::shared_span<first_record> firsts_;    ///< [warp][32] records that are brought together
  simt::shared_span<second_record> seconds_;  ///< the same of the second array
  simt::shared_span<std::uint32_t> heat_;     ///< [lock] of what is left, how many want it
  simt::shared_span<std::uint32_t> counts_;   ///< [warp] of what is left, how many belong to it
};

}  // namespace executor
WARDEN_NAMESPACE_END
