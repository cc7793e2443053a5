// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines what repeats in a block's batch, and leaves the rest as it is.
///
/// A sample of the batch tells whether any record has a good part of it. Only then messages are
/// combined: they are sorted by record, and each run of neighbours becomes one. Nobody waits for a
/// lock of a hot record: all threads have as many messages of it as they have of others. If half of
/// the slots are free then, what is left moves together, and the batch goes on.
#pragma once

#include <warden/channel/log_formats.cuh>
#include <warden/client/run_carry.cuh>
#include <warden/combining.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <bit>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// For batches of up to `Rounds` messages of each of a block's `Threads` threads, in a log of
/// `Formats`. A warp's slots lie together: what it keeps is at their front.
///
/// With one width a record's sections go into the last one's message. Where partials are wider they
/// have slots of their own, and a record's sections become one when they are as many as the places
/// that it takes in the log: n places do for n sections.
template <class Formats, unsigned Threads, unsigned Rounds>
class batch_combiner {
  using format = typename Formats::format;
  using section = typename Formats::section;
  using partial = typename Formats::partial;
  using wide_format = typename Formats::wide_format;
  using key_type = combining_key<section>;
  using carry = run_carry<partial>;
  using scan = simt::block_scan<Threads>;

 public:
  /// Whether partials have slots of their own.
  static constexpr bool two_widths = Formats::two_widths;
  /// Of a batch.
  using message_type = typename Formats::message_type;
  /// Of its partials.
  using wide_message = typename wide_format::message_type;
  /// Places that one takes.
  static constexpr unsigned places = Formats::places;
  /// Slots of a batch.
  static constexpr unsigned slots = Threads * Rounds;
  /// Slots of partials; they are numbered behind the others.
  static constexpr unsigned partials = two_widths ? Threads / 2 : 0;
  /// Their ranks: one for each thread, which is none for those without a slot.
  static constexpr unsigned partial_ranks = two_widths ? Threads : 0;
  static_assert(slots + partials < 0x8000, "warden: a batch has less than 32,768 messages");

  /// Of a slot, in place of a rank: there is no message.
  static constexpr std::uint16_t no_message = 0xffff;

  /// A block's shared memory.
  struct storage {
    /// Two buckets each; zero while messages are staged. First a sample.
    std::uint32_t buckets[std::bit_floor(slots) / 2];
    std::uint16_t sorted[slots + partials];  ///< [place] slot
    carry carries[Threads / 32];             ///< [warp] its last run, as far as it has come
    typename scan::storage scanning;         ///< of buckets
    std::uint32_t freed;                     ///< places that combining has made free
    std::uint32_t made[3];                   ///< [size of the run] partials that were asked for
    std::uint32_t kept[2][Threads / 32];     ///< [turn][warp] slots in use, from the front
  };

  /// Of a writer's slots and ranks, and the same for wide messages; `shared` is the block's.
  WARDEN_DEVICE batch_combiner(storage& shared, simt::shared_span<message_type> staged,
                               simt::shared_span<std::uint16_t> ranks,
                               simt::shared_span<wide_message> wide,
                               simt::shared_span<std::uint16_t> wide_ranks)
      : shared_{&shared, 1},
        buckets_{shared.buckets, words},
        sorted_{shared.sorted, slots + partials},
        staged_{staged},
        ranks_{ranks},
        wide_{wide},
        wide_ranks_{wide_ranks} {}

  /// This thread's slot in a round.
  WARDEN_DEVICE static unsigned slot_of(unsigned round) {
    return (simt::warp_rank() * Rounds + round) * simt::warp_size + simt::lane_id();
  }
  /// Whether messages are staged with their ranks among those of a bucket, `rank`.
  WARDEN_DEVICE bool is_on() const { return on_ != 0; }
  /// One more message of a bucket: its rank among those. While `is_on`.
  WARDEN_DEVICE std::uint16_t rank(message_type const& m) const {
    return rank_in(bucket_of(key_of(m)));
  }
  /// Whether the batch may have partials; the same for the block. Which: those with a rank.
  WARDEN_DEVICE bool has_partials() const { return two_widths && combined_ != 0; }

  /// Combines what the block staged in the first `used` rounds, unless too little repeats. With two
  /// widths only flushes of at least `least` sections combine. If the batch `may_go_on` and half of
  /// it became free, what is left moves to the front. Returns how many rounds are in use then, in
  /// every thread. Collective; a barrier follows before anybody flushes.
  WARDEN_DEVICE unsigned run(unsigned used, std::uint32_t least, bool may_go_on) {
    if (on_ == 0) {
      if (unlooked_ != 0) {
        --unlooked_;
        return used;
      }
      if (!is_crowded(used)) {
        unlooked_ = unlooked_batches;
        return used;
      }
      start(used);
      on_ = 1;
    }
    simt::sync_block();
    counted const all = place_buckets();
    bool const first = combined_ == 0;
    if (two_widths && first && all.messages < least) {
      pays_ = used < Rounds ? 1 : 0;
      simt::sync_block();
      return used;
    }
    combined_ = 1;
    place_slots(used);
    simt::sync_block();  // sabotage: sorted-whole
    combine(all.repeated);
    simt::sync_block();
    std::uint32_t const freed = simt::shared_load(shared_[0].freed);
    if (first && used == Rounds && freed < slots / 8) pays_ = 0;
    if (!may_go_on || all.messages - freed > slots / 2 || !has_room()) return used;
    return move_together(used);
  }
  /// Whether a batch with so many rounds in use, behind `run`, is to be written.
  WARDEN_DEVICE static bool is_full(unsigned used) { return used > Rounds - spare; }
  /// Makes ready for an empty batch; the slots may still be read. Barriers follow. Collective.
  WARDEN_DEVICE void clear() const {
    for (unsigned b = simt::thread_rank(); b < words; b += Threads) buckets_[b] = 0;
  }
  /// The batch has been written.
  WARDEN_DEVICE void end() {
    if (combined_ != 0) forget_partials();
    combined_ = 0;
    if (pays_ != 0) return;
    on_ = 0;
    pays_ = 1;
    unlooked_ = unlooked_batches;
  }

 private:
  /// Batches that are not looked at behind one where nothing repeated.
  static constexpr std::uint32_t unlooked_batches = 3;
  /// One record's messages of a sample with which combining begins: an even one of 1,024 records
  /// has hardly ever as many.
  static constexpr std::uint32_t crowd = Threads >= 512 ? Threads / 64 : 4;
  /// Rounds that are free at least if a batch goes on.
  static constexpr unsigned spare = 1 + Rounds / 4;
  static constexpr unsigned bucket_bits = std::bit_width(std::bit_floor(slots)) - 1;
  static constexpr unsigned words = std::bit_floor(slots) / 2;
  /// Words of the sample.
  static constexpr unsigned sampled = words < 1024 ? words : 1024;
  static constexpr unsigned sample_shift = 33 - std::bit_width(sampled);
  /// Of a bucket, in place of where it begins: its message is alone, and not sorted.
  static constexpr std::uint32_t alone = 0xffff;
  /// Sorted messages of a thread.
  static constexpr unsigned each = (slots + partials + Threads - 1) / Threads;
  /// Runs of three sizes have partials of their own, and those that smaller ones leave: a long run
  /// that stays would be marked message by message.
  static constexpr unsigned sizes = 3;
  static constexpr unsigned large = two_widths ? slots / (partials + 1) : 1, larger = 64;

  /// Of a batch.
  struct counted {
    std::uint32_t messages;
    std::uint32_t repeated;  ///< in buckets with others
  };

  WARDEN_DEVICE static unsigned scattered(key_type key) { return folded(key) * 2654435769u; }
  WARDEN_DEVICE static unsigned bucket_of(key_type key) {
    return scattered(key) >> (32 - bucket_bits);
  }
  WARDEN_DEVICE std::uint16_t rank_in(unsigned bucket) const {
    unsigned const shift = bucket % 2 * 16;
    return static_cast<std::uint16_t>(simt::shared_fetch_add(buckets_[bucket / 2], 1u << shift) >>
                                      shift);
  }
  WARDEN_DEVICE static key_type key_of(message_type const& m) {
    if constexpr (has_combine_key<section>) {
      return combining_key_of(m.local(), format::template unpack<section>(m));
    } else {
      return m.local();
    }
  }
  WARDEN_DEVICE static key_type key_of_wide(wide_message const& m) {
    return combining_key_of(m.local(), wide_format::template unpack<partial>(m));
  }
  WARDEN_DEVICE key_type key_at(unsigned slot) const {
    if constexpr (two_widths) {
      if (slot >= slots) return key_of_wide(wide_[slot - slots]);
    }
    return key_of(staged_[slot]);
  }
  /// A message as a run of its own.
  WARDEN_DEVICE carry carry_at(unsigned slot) const {
    if constexpr (two_widths) {
      if (slot >= slots)
        return {wide_format::template unpack<partial>(wide_[slot - slots]), 0, slot - slots + 1};
    }
    return {made_partial<partial>(format::template unpack<section>(staged_[slot])), 1, 0};
  }

  /// Two rounds are the sample. Collective.
  WARDEN_DEVICE bool is_crowded(unsigned used) const {
    for (unsigned b = simt::thread_rank(); b < sampled; b += Threads) buckets_[b] = 0;
    simt::sync_block();
    bool crowded = false;
    WARDEN_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      unsigned const r = i == 0 ? 0 : used / 2;
      if (r >= used || (i == 1 && r == 0)) continue;
      unsigned const slot = slot_of(r);
      if (ranks_[slot] == no_message) continue;
      unsigned const b = scattered(key_of(staged_[slot])) >> sample_shift;
      std::uint32_t const before = simt::shared_fetch_add(buckets_[b], 1u);
      crowded = crowded || before + 1 >= crowd;
    }
    return simt::sync_block_or(crowded);
  }
  /// Ranks what was staged otherwise. Collective.
  WARDEN_DEVICE void start(unsigned used) const {
    clear();
    forget_partials();
    simt::sync_block();
    WARDEN_NO_UNROLL
    for (unsigned r = 0; r < used; ++r) {
      unsigned const slot = slot_of(r);
      if (ranks_[slot] != no_message) ranks_[slot] = rank(staged_[slot]);
    }
  }

  WARDEN_DEVICE void forget_partials() const {
    if constexpr (two_widths) {
      wide_ranks_[simt::thread_rank()] = no_message;
      if (simt::thread_rank() < sizes) shared_[0].made[simt::thread_rank()] = 0;
    }
  }

  /// Turns the buckets' counts into the places where they begin. Collective; the places are visible
  /// to the block.
  WARDEN_DEVICE counted place_buckets() const {
    constexpr unsigned mine = (words + Threads - 1) / Threads;
    unsigned const first = simt::thread_rank() * mine;
    std::uint32_t sum = 0, total;  // messages, and above them those that repeat
    WARDEN_UNROLL
    for (unsigned k = 0; k < mine; ++k) {
      if (first + k >= words) break;
      std::uint32_t const both = buckets_[first + k];
      std::uint32_t const low = both & 0xffffu, high = both >> 16;
      sum += low + high + (((low > 1 ? low : 0) + (high > 1 ? high : 0)) << 16);
    }
    std::uint32_t place = scan::exclusive_sum(shared_[0].scanning, sum, total) >> 16;
    WARDEN_UNROLL
    for (unsigned k = 0; k < mine; ++k) {
      if (first + k >= words) break;
      std::uint32_t const both = buckets_[first + k];
      std::uint32_t const low = both & 0xffffu, high = both >> 16;
      std::uint32_t const at = low > 1 ? place : alone;
      if (low > 1) place += low;
      buckets_[first + k] = at | ((high > 1 ? place : alone) << 16);
      if (high > 1) place += high;
    }
    if (simt::thread_rank() == 0) shared_[0].freed = 0;
    simt::sync_block();
    return {total & 0xffffu, total >> 16};
  }
  /// Writes a slot to its place. Whether it is: it may be one with others.
  WARDEN_DEVICE bool place(unsigned slot, key_type key, std::uint16_t rank) const {
    unsigned const bucket = bucket_of(key);
    std::uint32_t const begin = (buckets_[bucket / 2] >> (bucket % 2 * 16)) & 0xffffu;
    if (begin == alone) return false;
    sorted_[begin + rank] = static_cast<std::uint16_t>(slot);
    return true;
  }
  /// What has a place is no message any more, unless its run says so.
  WARDEN_DEVICE void place_slots(unsigned used) const {
    WARDEN_NO_UNROLL
    for (unsigned r = 0; r < used; ++r) {
      unsigned const slot = slot_of(r);
      std::uint16_t const rank = ranks_[slot];
      if (rank != no_message && place(slot, key_of(staged_[slot]), rank))
        ranks_[slot] = no_message;  // sabotage: log-absorbed
    }
    if constexpr (two_widths) {
      unsigned const me = simt::thread_rank();
      std::uint16_t const rank = wide_ranks_[me];
      if (rank != no_message && place(slots + me, key_of_wide(wide_[me]), rank))
        wide_ranks_[me] = no_message;
    }
  }

  /// Makes one of each run of sorted messages, and clears the buckets. Collective.
  WARDEN_DEVICE void combine(std::uint32_t count) const {
    std::uint32_t const begin = simt::thread_rank() * each;
    std::uint32_t const left = begin < count ? count - begin : 0;
    std::uint32_t const end = begin + (left < each ? left : each);
    // Runs that begin and end among this thread's messages are done at once; its first one may have
    // begun before, and its last one may go on.
    bool const has_any = begin != end;
    bool goes_on = false, ends = false;
    if (has_any) {
      goes_on = begin != 0 && key_at(sorted_[begin - 1]) == key_at(sorted_[begin]);
      ends = end == count || key_at(sorted_[end]) != key_at(sorted_[end - 1]);
    }
    clear();
    simt::sync_block();  // the neighbours have been looked at, and the buckets as well
    std::uint32_t first_end = begin, freed = 0;
    carry last;
    key_type key{};
    WARDEN_NO_UNROLL
    for (std::uint32_t p = begin; p < end; ++p) {
      unsigned const slot = sorted_[p];
      key_type const next = key_at(slot);
      if (p != begin && next == key) {
        last.add(carry_at(slot));  // sabotage: run-sum
        continue;
      }
      if (p != begin) {
        if (first_end == begin && goes_on) {
          first_end = p;
        } else {
          freed += finish(key, p, last);
        }
      }
      key = next;
      last = carry_at(slot);
    }
    // Whose last run is not a part of one from before.
    bool const begins = !goes_on || first_end != begin;
    carry const before = carry::template before<Threads>(shared_[0].carries, last, begins);
    if (goes_on && first_end != begin) {
      // The first run, once more: it was not held.
      carry all = before;
      WARDEN_NO_UNROLL
      for (std::uint32_t p = begin; p < first_end; ++p)
        all.add(carry_at(sorted_[p]));  // sabotage: run-again
      freed += finish(key_at(sorted_[begin]), first_end, all);
    }
    if (has_any && ends) {
      if (!begins) last.prepend(before);  // sabotage: run-across
      freed += finish(key, end, last);
    }
    freed = simt::warp_sum(freed);
    if (simt::lane_id() == 0 && freed != 0) simt::shared_fetch_add(shared_[0].freed, freed);
  }
  /// A run, which ends before place `end`, becomes one message, or stays. Returns how many places
  /// became free.
  WARDEN_DEVICE std::uint32_t finish(key_type key, std::uint32_t end, carry const& all) const {
    if constexpr (two_widths) {
      unsigned wide = all.wide();
      unsigned freed = all.count();
      if (wide == 0 && freed >= places) {
        wide = new_partial(freed);
        if (wide != 0) freed -= places;
      }
      bool stays = wide == 0;
      if (!stays) {
        wide_[wide - 1] = wide_format::pack(static_cast<std::uint32_t>(key), all.sum());
        wide_ranks_[wide - 1] = 0;  // sabotage: partial-lost
      }
      if (!stays) return freed;  // sabotage: sample-sent-too
      for (unsigned i = 1; i <= all.count(); ++i) ranks_[sorted_[end - i]] = 0;
      return 0;
    } else {
      unsigned const slot = sorted_[end - 1];
      ranks_[slot] = 0;
      if (all.count() > 1) staged_[slot] = format::pack(static_cast<std::uint32_t>(key), all.sum());
      return all.count() - 1;
    }
  }
  /// Partials of runs of one size: half of them are for small ones.
  WARDEN_DEVICE static constexpr unsigned partials_of(unsigned size) {
    return size == 0 ? partials / 2 : partials / 4;
  }
  /// The number of a slot for a partial, from 1 on; 0 if there is none.
  WARDEN_DEVICE unsigned new_partial(unsigned count) const {
    unsigned size = count >= larger ? 2 : count >= large ? 1 : 0;
    while (true) {
      std::uint32_t& made = shared_[0].made[size];
      if (simt::shared_load(made) < partials_of(size)) {
        unsigned const own = simt::shared_fetch_add(made, 1u);
        unsigned const before = size == 0 ? 0 : size == 1 ? partials / 2 : partials * 3 / 4;
        if (own < partials_of(size)) return before + own + 1;
      }
      if (size == 0) return 0;
      --size;
    }
  }
  /// Whether there are partials for what comes.
  WARDEN_DEVICE bool has_room() const {
    if constexpr (two_widths) {
      bool has = true;
      WARDEN_UNROLL
      for (unsigned size = 0; size < sizes; ++size)
        has = has && simt::shared_load(shared_[0].made[size]) <= partials_of(size) / 2;
      return has;
    } else {
      return true;
    }
  }

  /// Moves what is left to the front of each warp's slots and ranks it anew. Returns the rounds
  /// that are in use then. Collective.
  WARDEN_DEVICE unsigned move_together(unsigned used) {
    unsigned kept = 0;
    WARDEN_NO_UNROLL
    for (unsigned r = 0; r < used; ++r) {
      unsigned const slot = slot_of(r);
      bool const is = ranks_[slot] != no_message;
      unsigned const there = simt::ballot(simt::full_warp, is);
      if (there == 0) continue;
      message_type const m = staged_[slot];
      // The round has been read: what is kept may lie where it lay.
      simt::sync_warp(simt::full_warp);
      if (is) {
        unsigned const below = there & ((1u << simt::lane_id()) - 1);
        unsigned const to =
            slot_of(0) - simt::lane_id() + kept + static_cast<unsigned>(simt::count_bits(below));
        staged_[to] = m;
        ranks_[to] = rank(m);
      }
      kept += static_cast<unsigned>(simt::count_bits(there));  // sabotage: survivors
      simt::sync_warp(simt::full_warp);
    }
    if constexpr (two_widths) {
      unsigned const me = simt::thread_rank();
      if (wide_ranks_[me] != no_message)
        wide_ranks_[me] = rank_in(bucket_of(key_of_wide(wide_[me])));
    }
    turn_ = turn_ ^ 1u;
    if (simt::lane_id() == 0) shared_[0].kept[turn_][simt::warp_rank()] = kept;
    simt::sync_block();
    // Two turns: who writes the next one's may be ahead of who reads this one's, by one barrier.
    std::uint32_t most = 0;
    WARDEN_UNROLL
    for (unsigned w = 0; w < Threads / simt::warp_size; ++w) {
      std::uint32_t const theirs = shared_[0].kept[turn_][w];
      most = most < theirs ? theirs : most;
    }
    unsigned const rounds = most == 0 ? 1 : (most + simt::warp_size - 1) / simt::warp_size;
    for (unsigned r = kept / simt::warp_size; r < rounds; ++r) {
      if (r * simt::warp_size + simt::lane_id() >= kept) ranks_[slot_of(r)] = no_message;
    }
    return rounds;
  }

  simt::shared_span<storage> shared_;
  simt::shared_span<std::uint32_t> buckets_;
  simt::shared_span<std::uint16_t> sorted_;
  simt::shared_span<message_type> staged_;
  simt::shared_span<std::uint16_t> ranks_;
  simt::shared_span<wide_message> wide_;
  simt::shared_span<std::uint16_t> wide_ranks_;
  // One register: the user's code runs between two flushes.
  unsigned on_ : 1 = 0;        ///< messages are staged to be combined
  unsigned pays_ : 1 = 1;      ///< combining made enough places free
  unsigned turn_ : 1 = 0;      ///< see `move_together`
  unsigned combined_ : 1 = 0;  ///< the batch has been, with its first rounds
  unsigned unlooked_ : 2 = 0;  ///< batches before the next one that is looked at
};

/// For sections that are not combined.
struct combines_nothing {
  /// None.
  struct storage {};
  static constexpr bool two_widths = false;     ///< see batch_combiner
  static constexpr unsigned partials = 0;       ///< see batch_combiner
  static constexpr unsigned partial_ranks = 0;  ///< see batch_combiner
  using wide_message = std::uint32_t;           ///< there are none
};

WARDEN_NAMESPACE_END
