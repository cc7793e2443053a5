// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fewer atomics on global memory for sections that combine: a block sorts a tile of operations by
/// record, combines those of one record, and issues one atomic for all of them.
#pragma once

#include <warden/baseline/atomics.cuh>
#include <warden/baseline/work.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// Whether sections combine: `static Section combine(Section, Section)` makes of two sections one
/// that has the effect of both, in any order and grouping.
template <class Section>
concept combining = requires(Section const& s) {
  { Section::combine(s, s) } -> std::convertible_to<Section>;
};

/// The operations that a block sorts at once: `Items` for each of `Threads` threads, a power of two
/// altogether.
template <unsigned Threads, unsigned Items>
struct combining_tile {
  static constexpr unsigned threads = Threads;             ///< of a block
  static constexpr unsigned items = Items;                 ///< operations of a thread
  static constexpr unsigned operations = Threads * Items;  ///< operations of a tile
  /// Bits of an operation's position in its tile.
  static constexpr unsigned position_bits = std::bit_width(operations - 1);
  static_assert(std::has_single_bit(operations) && 2 * position_bits < 32);
};

/// From record ids to what a tile is sorted by. More buckets than operations of a tile would only
/// cost passes of the sort: with fewer buckets than ids, strangers that share a bucket split a run
/// now and then, and a split run is one more atomic.
struct combining_buckets {
  std::uint32_t multiplier;  ///< 1 where there is a bucket for each id; scatters the ids otherwise
  std::uint32_t shift;       ///< leaves `bits` bits of the product
  std::uint32_t bits;        ///< there are 2^bits buckets

  /// For ids below `records`.
  static combining_buckets of(std::uint32_t records, unsigned most_bits) {
    auto const id_bits = static_cast<unsigned>(std::bit_width(std::max(records, 1u) - 1));
    if (id_bits <= most_bits) return {1, 0, id_bits};
    return {2654435769u, 32 - most_bits, most_bits};
  }
  /// The bucket of an id.
  WARDEN_DEVICE std::uint32_t operator()(std::uint32_t id) const {
    return id * multiplier >> shift;
  }
};

/// What the kernel takes.
template <class Work>
struct atomics_combined_arguments {
  Work work;                  ///< a `baseline::work`
  combining_buckets buckets;  ///< for all its ids
};

/// One block's tile.
template <class Work, class Tile>
class combined_atomics {
  using section = section_of<Work>;
  static_assert(combining<section>,
                "warden: the section has no member static Section combine(Section, Section)");

  /// A thread's last run, as far as it has come.
  struct unfinished {
    section sum;
    bool starts;  ///< in this thread; otherwise in one before it
  };
  struct append {
    WARDEN_DEVICE unfinished operator()(unfinished const& a, unfinished const& b) const {
      return {b.starts ? b.sum : section::combine(a.sum, b.sum), a.starts || b.starts};
    }
  };
  using sort = simt::block_sort<Tile::threads, Tile::items>;
  using scan = simt::block_scan_by<unfinished, Tile::threads>;

 public:
  /// A block's shared memory.
  struct storage {
    std::uint32_t ids[Tile::operations];     ///< by position
    std::uint32_t first_ids[Tile::threads];  ///< of each thread after the sort
    std::uint32_t last_ids[Tile::threads];   ///< of each thread after the sort
    union {
      typename sort::storage sorting;   ///< until the operations are sorted
      typename scan::storage scanning;  ///< then
    };
  };

  /// Runs the operations from `first` on that fit a tile. Collective; may be called again at once.
  WARDEN_DEVICE static void run(atomics_combined_arguments<Work> const& a, storage& shared,
                                std::uint32_t first) {
    constexpr std::uint32_t items = Tile::items;
    std::uint32_t const me = simt::thread_rank();
    std::uint32_t const count =
        a.work.n - first < Tile::operations ? a.work.n - first : Tile::operations;
    // A word is bucket and position; what is not there has a bit more, and so comes last.
    std::uint32_t ids[items], words[items];
    WARDEN_UNROLL
    for (std::uint32_t j = 0; j < items; ++j) {
      std::uint32_t const position = j * Tile::threads + me;
      ids[j] = position < count ? a.work.ids[first + position] : 0;
    }
    WARDEN_UNROLL
    for (std::uint32_t j = 0; j < items; ++j) {
      std::uint32_t const position = j * Tile::threads + me;
      words[j] = ~0u;
      if (position < count) {
        shared.ids[position] = ids[j];
        words[j] = a.buckets(ids[j]) << Tile::position_bits | position;
      }
    }
    simt::sync_block();
    unsigned const bits = a.buckets.bits + (count < Tile::operations ? 1 : 0);
    if (bits != 0) {
      sort::sort(shared.sorting, words, Tile::position_bits, Tile::position_bits + bits);
    }

    // Runs that begin and end among this thread's operations are applied at once; its first one may
    // have begun before, and its last one may go on.
    std::uint32_t const begin = me * items;
    std::uint32_t const mine = count <= begin ? 0 : count - begin < items ? count - begin : items;
    std::uint32_t const first_position = mine == 0 ? 0 : position_of(words[0]);
    std::uint32_t const first_id = shared.ids[first_position];
    std::uint32_t id = first_id;
    section sum = a.work.make(first + first_position);
    section first_sum = sum;
    bool first_ended = false;
    WARDEN_UNROLL
    for (std::uint32_t j = 1; j < items; ++j) {
      if (j >= mine) continue;
      std::uint32_t const position = position_of(words[j]);
      std::uint32_t const next_id = shared.ids[position];
      section const next = a.work.make(first + position);
      if (next_id == id) {
        sum = section::combine(sum, next);
        continue;
      }
      if (first_ended) {
        apply(a.work, id, sum);
      } else {
        first_sum = sum;
        first_ended = true;
      }
      id = next_id;
      sum = next;
    }

    shared.first_ids[me] = first_id;
    shared.last_ids[me] = id;
    simt::sync_block();
    bool const goes_on = mine != 0 && me != 0 && shared.last_ids[me - 1] == first_id;
    bool const ends = mine != 0 && (begin + items >= count || shared.first_ids[me + 1] != id);
    unfinished const before =
        scan::exclusive(shared.scanning, unfinished{sum, first_ended || !goes_on}, append{});
    if (first_ended) {
      if (goes_on) first_sum = section::combine(before.sum, first_sum);
      apply(a.work, first_id, first_sum);
    } else if (goes_on) {
      sum = section::combine(before.sum, sum);
    }
    if (ends) apply(a.work, id, sum);
  }

 private:
  WARDEN_DEVICE static std::uint32_t position_of(std::uint32_t word) {
    return word & (Tile::operations - 1);
  }
  WARDEN_DEVICE static void apply(Work const& work, std::uint32_t id, section const& s) {
    apply_atomically(&work.records[id], s, work.context);
  }
};

/// The kernel of `atomics_combined_async`; any grid of blocks as large as the tile says.
template <class Work, class Tile>
WARDEN_KERNEL void WARDEN_BOUNDS(Tile::threads, 768 / Tile::threads)
    atomics_combined_kernel(atomics_combined_arguments<Work> const a) {
  using block = combined_atomics<Work, Tile>;
  auto& shared = *reinterpret_cast<typename block::storage*>(simt::dynamic_shared());
  std::uint32_t const tiles = a.work.n / Tile::operations + (a.work.n % Tile::operations != 0);
  for (std::uint32_t tile = simt::block_rank(); tile < tiles; tile += simt::block_count())
    block::run(a, shared, tile * Tile::operations);
}

/// Enqueues all of the work, whose ids are below `records`. The section has a member `static
/// Section combine(Section, Section)`, and a member `atomic(Record*, Context)` or a record of 4 or
/// 8 bytes. Throws cuda_error.
template <class Tile = combining_tile<256, 16>, class Work>
void atomics_combined_async(Work const& work, std::uint32_t records, stream_ref s = {}) {
  if (work.n == 0) return;
  auto const kernel = &atomics_combined_kernel<Work, Tile>;
  constexpr auto shared_bytes = sizeof(typename combined_atomics<Work, Tile>::storage);
  std::uint32_t const tiles = work.n / Tile::operations + (work.n % Tile::operations != 0);
  unsigned const blocks = std::min(tiles, full_occupancy(kernel, Tile::threads, shared_bytes));
  simt::launch(kernel, blocks, Tile::threads, shared_bytes,
               {work, combining_buckets::of(records, Tile::position_bits)}, s);
}

}  // namespace baseline
WARDEN_NAMESPACE_END
