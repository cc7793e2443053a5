// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines sections: a block has sorted positions by the record of their sections, and makes one
/// section of each segment of equal keys.
///
/// All threads combine one hot record together: the sort distributes its positions over them, each
/// thread combines its own, and a scan across the threads joins the parts.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the number of bits that distinguish the numbers below `n`.
WARDEN_HOST_DEVICE constexpr unsigned bits_below(std::uint32_t n) {
  unsigned bits = 0;
  while (bits < 32 && n > 1 && (n - 1) >> bits != 0) ++bits;
  return bits;
}

/// Buckets of record ids, by which positions are sorted. There are at most about as many buckets as
/// positions: more would only cost passes of the sort. With fewer buckets than ids, two records
/// that share a bucket may split a segment, which then gives one more section.
struct combining_buckets {
  std::uint32_t multiplier;  ///< 1 if there is a bucket for each id; otherwise it scatters the ids
  std::uint32_t shift;       ///< leaves `bits` bits of the product
  std::uint32_t bits;        ///< there are 2^bits buckets

  /// Makes the buckets of ids below `records`.
  WARDEN_HOST_DEVICE static combining_buckets of(std::uint32_t records, unsigned most_bits) {
    unsigned const id_bits = bits_below(records);
    if (id_bits <= most_bits) return {1, 0, id_bits};
    return scattered(most_bits);
  }
  /// Makes the buckets of any numbers.
  WARDEN_HOST_DEVICE static combining_buckets scattered(unsigned bits) {
    return {2654435769u, 32 - bits, bits};
  }
  /// Returns the bucket of an id.
  WARDEN_DEVICE std::uint32_t operator()(std::uint32_t id) const {
    return id * multiplier >> shift;
  }
};

/// Combines equal neighbours among the positions that a block of `Threads` threads has sorted. The
/// `Members` have
///
///     combining_key<Section> key(position);  // the id is below 2^32 - 1; equal neighbours combine
///     Section section_at(position);
///     void absorbed(position);  // its section was combined into that of another position
///     void combined(key, position, section);  // once for equal neighbours, with the last position
///     static constexpr bool store;  // true if `section_at` then returns the combined section
///
/// All calls for one position come from one thread, in this order, so `absorbed` and `combined` may
/// overwrite what the others read. If `store` is true, `combined` is called twice for some keys,
/// instead of holding a section in registers.
template <class Section, unsigned Threads>
class block_combine {
  static_assert(combining<Section>,
                "warden: the section has no member static Section combine(Section, Section)");

  /// A thread's last segment, up to the end of the thread's positions.
  struct unfinished {
    union {
      unsigned char bytes[sizeof(Section)];
      Section sum;  // need not have a default constructor
    };
    bool starts;  ///< true if it begins in this thread; otherwise in one before it

    WARDEN_DEVICE unfinished() : bytes{}, starts{true} {}
  };
  struct append {
    WARDEN_DEVICE unfinished operator()(unfinished const& a, unfinished const& b) const {
      if (b.starts) return b;
      unfinished both = a;
      both.sum = Section::combine(a.sum, b.sum);
      return both;
    }
  };
  using scan = simt::block_scan_by<unfinished, Threads>;
  using key_type = combining_key<Section>;
  static constexpr key_type no_key = ~key_type{0};

 public:
  /// A block's shared memory.
  struct storage {
    key_type first_keys[Threads];     ///< first key of each thread
    key_type last_keys[Threads];      ///< last key of each thread
    typename scan::storage scanning;  ///< scan over the threads' last keys
  };

  /// Combines the block's positions. `sorted(j)` is this thread's position j of `sorted.count`,
  /// after those of earlier threads. If a thread has none, the threads after it have none.
  /// `Sorted::in_registers` is true if it is an array of `Sorted::most`. Collective; a block
  /// barrier must pass before `shared` is used again.
  template <class Sorted, class Members>
  WARDEN_DEVICE static void run(storage& shared, Sorted const& sorted, Members const& members) {
    // Segments that begin and end among this thread's positions are finished at once. The thread's
    // first segment may have begun before, and its last one may go on.
    std::uint32_t const me = simt::thread_rank();
    bool const has_any = sorted.count != 0;
    std::uint32_t position = 0;
    key_type first_key = no_key;
    unfinished first, last;
    if (has_any) {
      position = sorted(0);
      first_key = members.key(position);
      last.sum = members.section_at(position);
    }
    shared.first_keys[me] = first_key;
    key_type key = first_key;
    std::uint32_t first_position = position;
    bool first_ended = false;
    auto const take = [&](std::uint32_t next_position) {
      key_type const next_key = members.key(next_position);
      Section const next = members.section_at(next_position);
      if (next_key == key) {
        members.absorbed(position);
        position = next_position;
        last.sum = Section::combine(last.sum, next);  // mutation: combine-neighbour
        return;
      }
      if (first_ended || Members::store) members.combined(key, position, last.sum);
      if (!first_ended) {
        if constexpr (!Members::store) first.sum = last.sum;
        first_position = position;
        first_ended = true;
      }
      key = next_key;
      position = next_position;
      last.sum = next;
    };
    if constexpr (Sorted::in_registers) {
      WARDEN_UNROLL
      for (std::uint32_t j = 1; j < Sorted::most; ++j) {
        if (j < sorted.count) take(sorted(j));
      }
    } else {
      WARDEN_NO_UNROLL
      for (std::uint32_t j = 1; j < sorted.count; ++j) take(sorted(j));
    }

    shared.last_keys[me] = key;
    simt::sync_block();
    bool const goes_on = has_any && me != 0 && shared.last_keys[me - 1] == shared.first_keys[me];
    bool const ends = has_any && (me + 1 == Threads || shared.first_keys[me + 1] != key);
    last.starts = first_ended || !goes_on;  // mutation: combine-starts
    unfinished const before = scan::exclusive(shared.scanning, last, append{});
    if (first_ended && (goes_on || !Members::store)) {
      if constexpr (Members::store) first.sum = members.section_at(first_position);
      if (goes_on) first.sum = Section::combine(before.sum, first.sum);  // mutation: combine-across
      members.combined(first_key, first_position, first.sum);
    } else if (goes_on) {
      last.sum = Section::combine(before.sum, last.sum);
    }
    if (ends) {
      members.combined(key, position, last.sum);
    } else if (has_any) {
      members.absorbed(position);
    }
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
