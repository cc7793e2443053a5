// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines what repeats in a block's batch, and leaves the rest as it is.
///
/// A sample of the batch tells whether any record has a good part of it. Only then messages are
/// combined, by a table of what the batch holds: each new message is looked up, goes into the one
/// found, or stays and is entered. What stays is moved together, and the batch goes on until it is
/// full of messages that differ.
#pragma once

#include <warden/channel/log_formats.cuh>
#include <warden/combining.cuh>
#include <warden/simt/simt.cuh>

#include <bit>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// For batches of up to `Rounds` messages of each of a block's `Threads` threads, in a log of
/// `Formats`. A warp's slots lie together: what it keeps is at their front.
///
/// With one width a section that repeats goes into the message of the one before. Where partials
/// are wider they have slots of their own, and a record's sections become one when they are as many
/// as the places that it takes in the log: n places do for n sections.
template <class Formats, unsigned Threads, unsigned Rounds>
class batch_combiner {
  using format = typename Formats::format;
  using section = typename Formats::section;
  using partial = typename Formats::partial;
  using wide_format = typename Formats::wide_format;
  using key_type = combining_key<section>;

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
  static constexpr unsigned partials = two_widths ? Threads : 0;
  static_assert(slots + partials < 0xfffe, "warden: a batch has less than 65,534 messages");

  /// Of a slot, in place of a rank: there is no message.
  static constexpr std::uint16_t no_message = 0xffff;

  /// A block's shared memory.
  struct storage {
    static constexpr unsigned buckets = std::bit_floor(slots);
    std::uint32_t heads[buckets];         ///< the first slot of each bucket's list; first a sample
    std::uint32_t sent;                   ///< sections of the batch; where there are two widths
    std::uint32_t partials;               ///< slots of partials that were asked for
    std::uint32_t kept[2][Threads / 32];  ///< [turn][warp] slots in use, from the front
  };

  /// `ranks` and `wide_ranks` are the lists' links while the batch is combined.
  WARDEN_DEVICE batch_combiner(storage& shared, simt::shared_span<message_type> staged,
                               simt::shared_span<std::uint16_t> ranks,
                               simt::shared_span<wide_message> wide,
                               simt::shared_span<std::uint16_t> wide_ranks)
      : shared_{&shared, 1},
        heads_{shared.heads, storage::buckets},
        staged_{staged},
        ranks_{ranks},
        wide_{wide},
        wide_ranks_{wide_ranks} {}

  /// This thread's slot in a round.
  WARDEN_DEVICE static unsigned slot_of(unsigned round) {
    return (simt::warp_rank() * Rounds + round) * simt::warp_size + simt::lane_id();
  }
  /// Whether batches combine until one of them shows that little repeats.
  WARDEN_DEVICE bool is_on() const { return on_ != 0; }
  /// Slots of this warp that are in use, from its first one on; all that were staged in `used`
  /// rounds if nothing was combined.
  WARDEN_DEVICE unsigned kept(unsigned used) const {
    return looked_ == 0 ? used * simt::warp_size : shared_[0].kept[turn_][simt::warp_rank()];
  }
  /// Partials of the batch; behind a barrier.
  WARDEN_DEVICE unsigned partials_kept() const {
    if constexpr (two_widths) {
      if (looked_ == 0) return 0;
      std::uint32_t const asked = simt::shared_load(shared_[0].partials);
      return asked < partials ? asked : partials;
    } else {
      return 0;
    }
  }

  /// Combines what the block staged in the first `used` rounds, unless too little repeats. Returns
  /// how many rounds are in use then, in every thread. With two widths only flushes of at least
  /// `least` sections combine. Collective; a barrier follows before anybody else stages or flushes.
  WARDEN_DEVICE unsigned run(unsigned used, std::uint32_t least) {
    if (on_ == 0) {
      if (unlooked_ != 0) {
        --unlooked_;
        return used;
      }
      if (!is_crowded(used)) {
        unlooked_ = unlooked_batches;
        return used;
      }
      on_ = 1;
    }
    bool const first = looked_ == 0;
    if (first && !begin(used, least)) {
      pays_ = used < Rounds ? 1 : 0;
      return used;
    }
    // The rounds before were combined when the batch was full last.
    unsigned kept = first ? 0 : shared_[0].kept[turn_][simt::warp_rank()];
    WARDEN_NO_UNROLL
    for (unsigned r = looked_; r < used; ++r) {
      kept += absorb(r, kept);  // sabotage: survivors
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
    // One, if there are partials alone.
    looked_ = most == 0 ? 1 : (most + simt::warp_size - 1) / simt::warp_size;
    if (first && used == Rounds && looked_ + spare > Rounds) pays_ = 0;
    return looked_;
  }
  /// The batch has been written. A barrier follows before anybody stages.
  WARDEN_DEVICE void end() {
    looked_ = 0;
    if (pays_ != 0) return;
    on_ = 0;
    pays_ = 1;
    unlooked_ = unlooked_batches;
  }
  /// Rounds that are free again if it is worth going on with a batch.
  static constexpr unsigned spare = 1 + Rounds / 8;

 private:
  /// Batches that are not looked at behind one where nothing repeated.
  static constexpr std::uint32_t unlooked_batches = 3;
  /// One record's messages of a sample with which combining begins: an even one of 1,024 records
  /// has hardly ever as many.
  static constexpr std::uint32_t crowd = Threads >= 512 ? Threads / 64 : 4;
  /// Buckets of the sample.
  static constexpr unsigned sampled = storage::buckets < 1024 ? storage::buckets : 1024;
  /// Tries for a bucket that is taken; then a message stays by itself, and one more is sent.
  static constexpr unsigned most_tries = 16;
  /// Messages of a bucket that are looked at.
  static constexpr unsigned most_steps = 32;
  /// In a list: a thread works on it; it ends.
  static constexpr std::uint32_t taken = ~0u;
  static constexpr std::uint16_t end_of_list = 0xfffe;

  /// One of 2^(32 - Shift) buckets.
  template <unsigned Shift>
  WARDEN_DEVICE static unsigned hash(key_type key) {
    return folded(key) * 2654435769u >> Shift;
  }
  static constexpr unsigned shift = 33 - std::bit_width(storage::buckets);
  static constexpr unsigned sample_shift = 33 - std::bit_width(sampled);
  WARDEN_DEVICE static unsigned bucket_of(key_type key) { return hash<shift>(key); }
  WARDEN_DEVICE key_type key_at(unsigned slot) const {
    message_type const& m = staged_[slot];
    if constexpr (has_combine_key<section>) {
      return combining_key_of(m.local(), format::template unpack<section>(m));
    } else {
      return m.local();
    }
  }
  WARDEN_DEVICE partial partial_at(unsigned slot) const {
    return made_partial<partial>(format::template unpack<section>(staged_[slot]));
  }

  /// Two rounds are the sample. Collective.
  WARDEN_DEVICE bool is_crowded(unsigned used) const {
    for (unsigned b = simt::thread_rank(); b < sampled; b += Threads) heads_[b] = 0;
    simt::sync_block();
    bool crowded = false;
    WARDEN_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      unsigned const r = i == 0 ? 0 : used / 2;
      if (r >= used || (i == 1 && r == 0)) continue;
      unsigned const slot = slot_of(r);
      if (ranks_[slot] == no_message) continue;
      std::uint32_t const before =
          simt::shared_fetch_add(heads_[hash<sample_shift>(key_at(slot))], 1u);
      crowded = crowded || before + 1 >= crowd;
    }
    return simt::sync_block_or(crowded);
  }

  /// An empty table. False if the batch has too few sections. Collective.
  WARDEN_DEVICE bool begin(unsigned used, std::uint32_t least) {
    for (unsigned b = simt::thread_rank(); b < storage::buckets; b += Threads)
      heads_[b] = end_of_list;
    if (simt::thread_rank() == 0) shared_[0].sent = shared_[0].partials = 0;
    simt::sync_block();  // sabotage: table-begin
    if constexpr (two_widths) {
      unsigned mine = 0;
      WARDEN_NO_UNROLL
      for (unsigned r = 0; r < used; ++r) {
        unsigned const there = simt::ballot(simt::full_warp, ranks_[slot_of(r)] != no_message);
        mine += simt::count_bits(there);
      }
      if (simt::lane_id() == 0) simt::shared_fetch_add(shared_[0].sent, mine);
      simt::sync_block();
      if (simt::shared_load(shared_[0].sent) < least) return false;
    }
    return true;
  }

  /// Looks up a warp's messages of one round; what is new moves behind the `kept` ones. Returns how
  /// many that are. Collective over the warp.
  WARDEN_DEVICE unsigned absorb(unsigned r, unsigned kept) const {
    unsigned const slot = slot_of(r);
    simt::sync_warp(simt::full_warp);  // what the other lanes staged
    bool const is = ranks_[slot] != no_message;
    message_type const m = staged_[slot];
    key_type key = ~key_type{0};  // nobody's
    if (is) key = key_at(slot);
    unsigned const peers = simt::match_any(simt::full_warp, key);
    unsigned const leader = static_cast<unsigned>(simt::first_bit(peers));
    bool const leads = is && leader == simt::lane_id();
    held_partial sum;
    bool found = false;
    if (leads) {
      sum.value = partial_at(slot);
      for (unsigned left = peers & (peers - 1); left != 0; left &= left - 1) {
        unsigned const other = slot - leader + static_cast<unsigned>(simt::first_bit(left));
        sum.value = partial::combine(sum.value, partial_at(other));  // sabotage: warp-sum
      }
      found = look_up(key, sum.value, static_cast<unsigned>(simt::count_bits(peers)));
    }
    bool stays = leads && !found;
    if constexpr (two_widths) {
      bool const taken_up = simt::shuffle(simt::full_warp, unsigned{found}, leader) != 0;
      stays = is && !taken_up;
    }
    unsigned const staying = simt::ballot(simt::full_warp, stays);
    // The leaders have read the round: what is kept may lie where it lay.
    simt::sync_warp(simt::full_warp);
    if (stays) {
      unsigned const below = staying & ((1u << simt::lane_id()) - 1);
      unsigned const to =
          slot_of(0) - simt::lane_id() + kept + static_cast<unsigned>(simt::count_bits(below));
      if constexpr (two_widths) {
        staged_[to] = m;
      } else {
        staged_[to] = format::pack(m.local(), sum.value);
      }
      enter(key, to);
    }
    return static_cast<unsigned>(simt::count_bits(staying));
  }

  /// A partial that need not have a default constructor.
  union held_partial {
    WARDEN_DEVICE held_partial() : bytes{} {}
    unsigned char bytes[sizeof(partial)];
    partial value;
  };

  /// Calls `work(first)` with a bucket's list as this thread's own; the list then begins with what
  /// it returns. False if others had the bucket at each try, and nothing was done.
  ///
  /// What was written under the bucket is visible: the fence behind the exchange that takes it and
  /// the one before the exchange that gives it back are acquire and release, of the block.
  template <class Work>
  WARDEN_DEVICE bool with_bucket(key_type key, Work work) const {
    std::uint32_t& head = heads_[bucket_of(key)];
    bool done = false;
    WARDEN_NO_UNROLL
    for (unsigned tries = 0; tries < most_tries && !done; ++tries) {
      std::uint32_t const first = simt::shared_exchange(head, taken);
      if (first == taken) continue;
      simt::fence_block();
      std::uint32_t const now = work(first);
      simt::fence_block();
      simt::shared_exchange(head, now);
      done = true;
    }
    return done;
  }

  /// Combines `count` sections on one record, which are `sum`, with what the table has. False if
  /// they stay by themselves.
  WARDEN_DEVICE bool look_up(key_type key, partial const& sum, unsigned count) const {
    bool found = false;
    if constexpr (!two_widths) {
      // Whoever finds nothing without asking need not ask: at worst one more message is sent.
      if (simt::shared_load(heads_[bucket_of(key)]) == end_of_list) return false;
    }
    with_bucket(key, [&](std::uint32_t first) {
      if constexpr (two_widths) {
        return combine_wide(first, key, sum, count, found);
      } else {
        std::uint32_t s = first;
        for (unsigned step = 0; step < most_steps && s != end_of_list; ++step, s = ranks_[s]) {
          if (key_at(s) != key) continue;
          staged_[s] = format::pack(staged_[s].local(), partial::combine(partial_at(s), sum));
          found = true;  // sabotage: log-absorbed
          break;
        }
        return first;
      }
    });
    return found;
  }

  /// In the bucket's list: combines with the record's partial, or makes one when there are enough
  /// sections for it. Returns the list.
  WARDEN_DEVICE std::uint32_t combine_wide(std::uint32_t first, key_type key, partial const& sum,
                                           unsigned count, bool& found) const {
    std::uint32_t s = first;
    unsigned alone = 0;
    for (unsigned step = 0; step < most_steps && s != end_of_list; ++step) {
      if (s >= slots) {
        wide_message& m = wide_[s - slots];
        partial const before = wide_format::template unpack<partial>(m);
        if (combining_key_of(m.local(), before) == key) {
          m = wide_format::pack(m.local(), partial::combine(before, sum));
          found = true;  // sabotage: partial-twice
          return first;
        }
        s = wide_ranks_[s - slots];
      } else {
        if (key_at(s) == key) ++alone;
        s = ranks_[s];
      }
    }
    if (count + alone < places || simt::shared_load(shared_[0].partials) >= partials) return first;
    std::uint32_t const own = simt::shared_fetch_add(shared_[0].partials, 1u);
    if (own >= partials) return first;
    held_partial all;
    all.value = sum;
    std::uint32_t list = first, before = end_of_list;
    s = first;
    for (unsigned left = alone; left != 0;) {
      std::uint32_t const next = s >= slots ? wide_ranks_[s - slots] : ranks_[s];
      if (s < slots && key_at(s) == key) {
        all.value = partial::combine(all.value, partial_at(s));  // sabotage: partial-lost
        ranks_[s] = no_message;                                  // sabotage: sample-sent-too
        if (before == end_of_list) {
          list = next;
        } else if (before >= slots) {
          wide_ranks_[before - slots] = static_cast<std::uint16_t>(next);
        } else {
          ranks_[before] = static_cast<std::uint16_t>(next);
        }
        --left;
      } else {
        before = s;
      }
      s = next;
    }
    wide_[own] = wide_format::pack(static_cast<std::uint32_t>(key), all.value);
    wide_ranks_[own] = static_cast<std::uint16_t>(list);
    found = true;
    return slots + own;
  }

  /// Enters the message in a slot.
  WARDEN_DEVICE void enter(key_type key, unsigned slot) const {
    ranks_[slot] = end_of_list;  // it is there, entered or not
    if constexpr (two_widths) {
      // Nothing can become of it.
      if (simt::shared_load(shared_[0].partials) >= partials) return;
    }
    with_bucket(key, [&](std::uint32_t first) {
      ranks_[slot] = static_cast<std::uint16_t>(first);
      return slot;
    });
  }

  simt::shared_span<storage> shared_;
  simt::shared_span<std::uint32_t> heads_;
  simt::shared_span<message_type> staged_;
  simt::shared_span<std::uint16_t> ranks_;
  simt::shared_span<wide_message> wide_;
  simt::shared_span<std::uint16_t> wide_ranks_;
  // One register: the user's code runs between two flushes.
  unsigned on_ : 1 = 0;        ///< messages are staged without ranks, to be combined
  unsigned pays_ : 1 = 1;      ///< the batch was not full after combining
  unsigned turn_ : 1 = 0;      ///< see `run`
  unsigned unlooked_ : 2 = 0;  ///< batches before the next one that is looked at
  unsigned looked_ : 16 = 0;   ///< rounds in use when the batch was combined last
};

/// For sections that are not combined.
struct combines_nothing {
  /// None.
  struct storage {};
  static constexpr bool two_widths = false;  ///< see batch_combiner
  static constexpr unsigned partials = 0;    ///< see batch_combiner
  using wide_message = std::uint32_t;        ///< there are none
};

WARDEN_NAMESPACE_END
