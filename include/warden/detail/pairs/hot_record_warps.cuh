// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs sections whose hot locks would keep most of a block's messages from running concurrently.
/// One warp handles each hot lock.
///
/// A message belongs to the hotter of its two locks, the one that more remaining messages want; of
/// two equal locks, to the lower one. Each lock belongs to a warp. So all sections on a hot record
/// come to one warp, which takes the locks of their other records together and lets one lane run
/// the sections in turn. A warp gives its hot record back before it tries for others, and waits
/// only while it holds no lock, so two warps never wait for one another.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/warp_scan.cuh>
#include <warden/detail/execute/lock_pair.cuh>
#include <warden/detail/pairs/few_records.cuh>
#include <warden/detail/pairs/pair_sections.cuh>
#include <warden/error.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs the sections of a window in a tile pair of `Ref`, a rounds_ref. Each thread has up to
/// `PerThread` messages of a window.
template <class Ref, unsigned PerThread>
class hot_record_warps {
  using sections = pair_sections<Ref>;
  using message_type = typename sections::message_type;
  using table = typename sections::table;
  using first_record = typename Ref::record;
  using second_record = typename Ref::second_record;
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr unsigned warps = threads / simt::warp_size;
  static constexpr unsigned lock_count = sections::lock_count;
  /// A word for each lock; or one for each pair of few records, and one for the end.
  static constexpr unsigned heat_count = std::max(lock_count, few_pairs + 1);
  /// Kinds of messages. `is_first`, `is_second`: the hot record is the first or the second one, and
  /// few messages share the other one. `is_alike`: many messages have the same two records.
  static constexpr unsigned is_first = 0, is_second = 1, is_alike = 2, kinds = 3;
  /// Number of sort keys: messages are sorted by warp, then by kind.
  static constexpr unsigned keys = kinds * warps;

 public:
  /// Pieces of shared memory.
  struct pieces {
    arena_piece<message_type> left;            ///< messages of a window
    arena_piece<first_record> firsts;          ///< [warp] records, in the order of its messages
    arena_piece<second_record> seconds;        ///< [warp] records of the second array
    arena_piece<std::uint32_t> heat;           ///< one for each lock
    arena_piece<std::uint32_t> counts;         ///< one for each key
    arena_piece<std::uint32_t> begins;         ///< one for each key, and the end
    arena_piece<std::uint32_t> locks;          ///< all locks
    typename sections::store::pieces records;  ///< records that the block holds
  };
  /// Returns the pieces for tiles of these sizes, and windows of `used` messages of each thread.
  WARDEN_HOST_DEVICE static constexpr pieces carve(arena_carver& carver, tile_sizes sizes,
                                                   unsigned used) {
    auto const firsts = carver.take<first_record>(sections::holds ? threads : 0);
    auto const seconds =
        carver.take<second_record>(sections::holds && Ref::two_arrays ? threads : 0);
    auto const heat = carver.take<std::uint32_t>(heat_count);
    auto const counts = carver.take<std::uint32_t>(keys);
    auto const begins = carver.take<std::uint32_t>(keys + 1);
    auto const locks = carver.take<std::uint32_t>(lock_count);
    auto const records = sections::store::carve(carver, sizes);
    // Last, so that the other offsets do not depend on the window's size.
    auto const left = carver.take<message_type>(std::size_t{used} * threads);
    return {left, firsts, seconds, heat, counts, begins, locks, records};
  }

  /// Constructs the object of a block. `storage` is the shared memory in which `at` was carved, the
  /// same for the whole block.
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

  /// Returns the object that runs sections.
  WARDEN_DEVICE sections& all_sections() { return sections_; }
  /// Returns the object that runs sections.
  WARDEN_DEVICE sections const& all_sections() const { return sections_; }
  /// Returns the locks.
  WARDEN_DEVICE table const& locks() const { return locks_; }

  /// Frees all locks and forgets all messages. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const {
    locks_.clear();
    forget();
    for (unsigned i = simt::thread_rank(); i < keys; i += threads) counts_[i] = 0;
  }

  /// Marks no lock as hot. Collective; a block barrier follows.
  WARDEN_DEVICE void forget() const {
    for (unsigned i = simt::thread_rank(); i < heat_count; i += threads) heat_[i] = 0;
  }
  /// Returns true if many sections that waited for the lock were taken here since `forget`.
  WARDEN_DEVICE bool is_hot(unsigned lock) const { return heat_[lock] != 0; }

  /// Takes the messages that want a hot lock, among the messages `m[k]` of the bits k of `waiting`.
  /// Returns the bits of the others. Collective over the block. A block barrier follows, and then
  /// `run`.
  WARDEN_DEVICE unsigned take(message_type const (&m)[PerThread], unsigned waiting) const {
    for_each(m, waiting, [&](message_type const& one, unsigned) {
      auto const [a, b] = sections::locks_of(one);
      simt::shared_fetch_add(heat_[a], 1u);
      if (a != b) simt::shared_fetch_add(heat_[b], 1u);
    });
    simt::sync_block();
    // A message's key, and the number of messages of that key before it.
    static_assert(PerThread * threads <= 1u << 16);
    std::uint32_t places[PerThread];
    unsigned taken = 0;
    for_each(m, waiting, [&](message_type const& one, unsigned k) {
      unsigned const key = key_of(one);
      if (key == no_key) return;
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
  /// Runs the taken messages of this thread's warp. Returns false if the run is poisoned.
  /// Collective over the warp; a block barrier follows.
  WARDEN_DEVICE bool run() const {
    return run_kind<is_alike>() && run_kind<is_first>() && run_kind<is_second>();
  }

  /// Runs the messages `m[k]` of the bits k of `arrived` by one thread, without locks.
  /// Precondition: their slots are below `few_slots`. Collective over the block; a block barrier
  /// follows.
  WARDEN_DEVICE void run_by_one(message_type const (&m)[PerThread], unsigned arrived) const {
    run_by_pair<threads>(sections_, m, arrived, left_, heat_);
  }

  /// Waits until both locks look free; their holders run or try sections. Called by one thread.
  /// Returns false if the run is poisoned.
  WARDEN_DEVICE bool wait_for(lock_pair wanted) const {
    return wait_for_locks(ref_, locks_, wanted, simt::block_rank());
  }

 private:
  template <class F>
  WARDEN_DEVICE static void for_each(message_type const (&m)[PerThread], unsigned mask, F f) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < PerThread; ++k)
      if ((mask >> k & 1u) != 0) f(m[k], k);
  }
  /// Replaces a lock's count by `hot` if it was large, otherwise by 0. Several threads may do so at
  /// once: all store the same value.
  WARDEN_DEVICE void cool_down(unsigned lock) const {
    simt::shared_store(heat_[lock], simt::shared_load(heat_[lock]) >= many ? hot : 0u);
  }
  /// `many`: a lock is hot if at least this number of sections wait for it. `hot`: mark of a hot
  /// lock, larger than any count.
  static constexpr std::uint32_t many = 16, hot = 1u << 31;
  /// Key of a message without a hot lock.
  static constexpr unsigned no_key = ~0u;

  /// Returns the key of a message: its warp and its kind.
  WARDEN_DEVICE unsigned key_of(message_type const& m) const {
    auto const [a, b] = sections::locks_of(m);
    std::uint32_t const heat_a = heat_[a], heat_b = heat_[b];
    bool const is_a = heat_a != heat_b ? heat_a > heat_b : a <= b;
    std::uint32_t const more = is_a ? heat_a : heat_b, less = is_a ? heat_b : heat_a;
    if (more < many) return no_key;
    // A batch has no record twice. So messages whose other record is common, too, are run as the
    // kind `is_alike`.
    bool const alike = a == b || (less & ~hot) * share >= (more & ~hot);
    return (is_a ? a : b) % warps * kinds + (alike ? is_alike : is_a ? is_first : is_second);
  }
  /// A record is common if at least one in `share` of the hot record's messages want it.
  static constexpr std::uint32_t share = 8;

  /// Turns counts into places. Called by one warp.
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

  /// Runs this warp's messages of one kind. Each lane holds a message until it has run. Messages
  /// whose locks are not free are tried again with others. Returns false if the run is poisoned.
  /// Collective over the warp.
  template <unsigned Kind>
  WARDEN_DEVICE bool run_kind() const {
    unsigned const me = simt::lane_id(), key = simt::warp_rank() * kinds + Kind;
    std::uint32_t const begin = begins_[key], end = begins_[key + 1];
    std::uint32_t next = begin;
    message_type mine{};
    bool waits = false;
    while (true) {
      // Lanes without a message take the next ones.
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

  /// Runs the messages `mine` of `group`, lanes of this warp that share the record `hot`. Runs
  /// those whose `other` records' locks are free, one after another in one lane. `left_[begin...]`
  /// has room for them. Returns the lanes whose messages ran. Collective over the warp.
  template <bool IsFirst>
  WARDEN_DEVICE unsigned run_apart(unsigned group, unsigned leader, std::uint32_t begin,
                                   message_type const& mine, std::uint32_t hot,
                                   std::uint32_t other) const {
    unsigned const me = simt::lane_id();
    bool const has_hot = me == leader && locks_.try_lock(table::lock_of(hot));
    if (!simt::any(simt::full_warp, has_hot)) return 0;
    // One of the lanes that want the same lock gets it, so no record occurs twice among them.
    bool const wants = (group >> me & 1u) != 0;
    bool const ready = wants && locks_.try_lock(table::lock_of(other));  // mutation: other-lock
    unsigned const all = simt::ballot(simt::full_warp, ready);
    // The lanes copy the records together, so that the lane that runs the sections only computes.
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
    // This barrier hands to the running lane what the lanes have acquired. The second barrier hands
    // its writes to the lanes that release.
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

  /// Orders the lanes' earlier reads before later writes to the same place: votes and shuffles
  /// order no memory. There are two such pairs. In `run_kind` a lane reads its message from
  /// `left_`, and another lane writes there in `run_alike` or `run_apart`. At the end of
  /// `run_apart` a lane reads its record from `others`, and another lane writes there for the next
  /// group. Collective over the warp.
  WARDEN_DEVICE static void before_reuse() {
    simt::sync_warp(simt::full_warp);  // mutation: reuse-barrier
  }

  /// Returns how many of these lanes come before this one.
  WARDEN_DEVICE static unsigned rank_in(unsigned lanes) {
    return static_cast<unsigned>(simt::count_bits(lanes & ((1u << simt::lane_id()) - 1)));
  }

  Ref const& ref_;
  sections sections_;
  table locks_;
  simt::shared_span<message_type> left_;      ///< remaining messages of a window, by key
  simt::shared_span<first_record> firsts_;    ///< [warp][32] other records of its messages
  simt::shared_span<second_record> seconds_;  ///< [warp][32] other records of the second array
  simt::shared_span<std::uint32_t> heat_;     ///< [lock] number of remaining messages that want it
  simt::shared_span<std::uint32_t> counts_;   ///< [key] number of remaining messages that have it
  simt::shared_span<std::uint32_t> begins_;   ///< [key, and the end] place of the first message
};

}  // namespace detail
WARDEN_NAMESPACE_END
