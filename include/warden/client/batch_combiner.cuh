// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines what repeats in a block's batch, and leaves the rest as it is.
///
/// A sample of the batch tells whether any record has a good part of it. Only then messages are
/// sorted, and only those for records of the sample: where nothing repeats the sample is all that
/// it costs.
#pragma once

#include <warden/block/message_combiner.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// For batches of up to `Rounds` messages of each of a block's `Threads` threads, of sections of
/// one type in `Format`, a log_format.
template <class Format, class Section, unsigned Threads, unsigned Rounds>
class batch_combiner {
  using message_type = typename Format::message_type;
  using combiner = message_combiner<Section, Threads, Rounds>;
  /// Of records, in the sample.
  static constexpr std::uint32_t buckets = 1024;
  /// Rounds of which one is in the sample.
  static constexpr unsigned sampled = 4;
  static_assert(Rounds <= 32, "warden: a batch that combines has 32 messages of a thread at most");

 public:
  /// A block's shared memory.
  union storage {
    std::uint32_t seen[buckets];         ///< [bucket] messages of the sample
    typename combiner::storage sorting;  ///< then, if there are any to be combined
  };
  /// Of a slot, in place of a rank: there is no message.
  static constexpr std::uint16_t no_message = 0xffff;

  /// Slots that hold a message have any other value in `ranks`; in the end those are without a
  /// meaning. Returns whether anything was combined. Collective over the block, behind a barrier.
  WARDEN_DEVICE static bool run(storage& shared, simt::shared_span<message_type> staged,
                                simt::shared_span<std::uint16_t> ranks, unsigned used) {
    unsigned const me = simt::thread_rank();
    for (std::uint32_t b = me; b < buckets; b += Threads) shared.seen[b] = 0;
    simt::sync_block();
    bool crowded = false;
    WARDEN_UNROLL
    for (unsigned r = 0; r < Rounds; r += sampled) {
      std::uint32_t const slot = r * Threads + me;
      if (r < used && ranks[slot] != no_message) {
        std::uint32_t const before =
            simt::shared_fetch_add(shared.seen[bucket_of(staged[slot])], 1u);
        crowded = crowded || before + 1 >= crowd;
      }
    }
    if (!simt::sync_block_or(crowded)) return false;
    unsigned filled = 0;
    WARDEN_UNROLL
    for (unsigned r = 0; r < Rounds; ++r) {
      std::uint32_t const slot = r * Threads + me;
      if (r < used && ranks[slot] != no_message && shared.seen[bucket_of(staged[slot])] != 0)
        filled |= 1u << r;
    }
    simt::sync_block();  // the sample has been looked at
    combiner::run(shared.sorting, slots{staged, ranks}, ~0u, filled);
    return true;
  }

 private:
  /// One record's messages of a sample with which combining begins: an even one of 1,024 records
  /// has hardly ever as many.
  static constexpr std::uint32_t crowd = Threads >= 512 ? Threads / 64 : 4;

  WARDEN_DEVICE static std::uint32_t bucket_of(message_type const& m) {
    return m.local() * 2654435769u >> 22;
  }

  /// The staged messages as members of the runs that are combined. See block_combine.
  struct slots {
    static constexpr bool store = true;
    simt::shared_span<message_type> staged;
    simt::shared_span<std::uint16_t> ranks;

    WARDEN_DEVICE std::uint32_t key(std::uint32_t slot) const { return staged[slot].local(); }
    WARDEN_DEVICE Section section_at(std::uint32_t slot) const {
      return Format::template unpack<Section>(staged[slot]);
    }
    WARDEN_DEVICE void absorbed(std::uint32_t slot) const {
      ranks[slot] = no_message;  // sabotage: log-absorbed
    }
    WARDEN_DEVICE void combined(std::uint32_t id, std::uint32_t slot, Section const& s) const {
      staged[slot] = Format::pack(id, s);
    }
  };
};

/// For sections that are not combined.
struct combines_nothing {
  /// None.
  struct storage {};
};

WARDEN_NAMESPACE_END
