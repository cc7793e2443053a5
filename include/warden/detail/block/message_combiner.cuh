// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines the messages that a block holds in shared memory: one message is left for each record,
/// with the effect of all.
#pragma once

#include <warden/detail/block/combine.cuh>
#include <warden/simt/collective.cuh>

#include <bit>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Combines the messages in `Items` slots of each of `Threads` threads; slot s belongs to thread s
/// mod `Threads`. A counting sort by buckets of records brings messages for one record together. No
/// state stays in registers, because a block client flushes in the middle of the user's code, which
/// needs them.
template <class Section, unsigned Threads, unsigned Items>
class message_combiner {
  using combine = block_combine<Section, Threads>;
  using scan = simt::block_scan<Threads>;
  static constexpr unsigned slots = Threads * Items;
  /// Buckets: at most about as many as slots.
  static constexpr unsigned most_bits = std::bit_width(slots) - 1;
  static_assert(slots <= 1u << 16);

  /// A thread's share of the sorted slots. See block_combine.
  struct sorted_slots {
    static constexpr bool in_registers = false;
    std::uint16_t const* slots;
    std::uint32_t count;
    WARDEN_DEVICE std::uint32_t operator()(std::uint32_t j) const { return slots[j]; }
  };

  struct counting_sort {
    std::uint32_t begins[1u << most_bits];  ///< [bucket] messages, then the place of its first
    std::uint16_t ranks[slots];             ///< [slot] rank among the messages of its bucket
    typename scan::storage scanning;
  };

 public:
  /// A block's shared memory.
  struct storage {
    std::uint16_t sorted[slots];  ///< [place] slot
    union {
      counting_sort sorting;                ///< until the slots are sorted
      typename combine::storage combining;  ///< after that
    };
  };

  /// Combines messages. Bit r of `filled` is set if there is a message in this thread's slot r. The
  /// records' ids are below `ids`. `messages` are the members of block_combine, by slots.
  /// Collective; the result is visible to the block afterwards.
  template <class Slots>
  WARDEN_DEVICE static void run(storage& shared, Slots const& messages, std::uint32_t ids,
                                unsigned filled) {
    unsigned const me = simt::thread_rank();
    counting_sort& sorting = shared.sorting;
    auto const buckets_of_ids = has_combine_key<Section> ? combining_buckets::scattered(most_bits)
                                                         : combining_buckets::of(ids, most_bits);
    auto const bucket_of = [&](auto key) { return buckets_of_ids(folded(key)); };
    std::uint32_t const buckets = 1u << buckets_of_ids.bits;
    WARDEN_NO_UNROLL
    for (std::uint32_t b = me; b < buckets; b += Threads) sorting.begins[b] = 0;
    simt::sync_block();
    // Rank each message among those of its bucket.
    WARDEN_NO_UNROLL
    for (unsigned slot = me, left = filled; left != 0; slot += Threads, left >>= 1) {
      if ((left & 1u) == 0) continue;
      auto& count = sorting.begins[bucket_of(messages.key(slot))];
      sorting.ranks[slot] = static_cast<std::uint16_t>(simt::shared_fetch_add(count, 1u));
    }
    simt::sync_block();
    // The buckets lie in the order of their threads, so each thread needs only its own.
    std::uint32_t sum = 0, total;
    WARDEN_NO_UNROLL
    for (std::uint32_t b = me; b < buckets; b += Threads) {
      std::uint32_t const count = sorting.begins[b];
      sorting.begins[b] = sum;
      sum += count;
    }
    std::uint32_t const before = scan::exclusive_sum(sorting.scanning, sum, total);
    WARDEN_NO_UNROLL
    for (std::uint32_t b = me; b < buckets; b += Threads) sorting.begins[b] += before;
    simt::sync_block();
    WARDEN_NO_UNROLL
    for (unsigned slot = me, left = filled; left != 0; slot += Threads, left >>= 1) {
      if ((left & 1u) == 0) continue;
      std::uint32_t const begin = sorting.begins[bucket_of(messages.key(slot))];
      shared.sorted[begin + sorting.ranks[slot]] = static_cast<std::uint16_t>(slot);
    }
    simt::sync_block();
    // Shares are as even as possible, so that few messages are not left to few threads.
    std::uint32_t const share = total / Threads + (total % Threads != 0);
    std::uint32_t const begin = me * share;
    std::uint32_t const mine = total <= begin ? 0 : total - begin < share ? total - begin : share;
    combine::run(shared.combining, sorted_slots{shared.sorted + begin, mine}, messages);
    simt::sync_block();
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
