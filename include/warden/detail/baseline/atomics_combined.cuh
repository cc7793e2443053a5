// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fewer atomics on global memory for sections that combine. A block sorts a tile of operations by
/// record, combines those of one record, and issues one atomic for all of them.
#pragma once

#include <warden/detail/baseline/atomics.cuh>
#include <warden/detail/baseline/work.cuh>
#include <warden/detail/block/combine.cuh>
#include <warden/simt/block_sort.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <bit>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// Operations that a block sorts at once: `Items` for each of `Threads` threads; the product is a
/// power of two.
template <unsigned Threads, unsigned Items>
struct combining_tile {
  static constexpr unsigned threads = Threads;             ///< threads of a block
  static constexpr unsigned items = Items;                 ///< operations of a thread
  static constexpr unsigned operations = Threads * Items;  ///< operations of a tile
  /// Bits of an operation's position in its tile.
  static constexpr unsigned position_bits = std::bit_width(operations - 1);
  static_assert(std::has_single_bit(operations) && 2 * position_bits < 32);
};

/// Arguments of the kernel.
template <class Work>
struct atomics_combined_arguments {
  Work work;                          ///< a `baseline::work`
  detail::combining_buckets buckets;  ///< buckets for all ids of the work
};

/// One block's tile.
template <class Work, class Tile>
class combined_atomics {
  using section = section_of<Work>;
  using sort = simt::block_sort<Tile::threads, Tile::items>;
  using combine = detail::block_combine<section, Tile::threads>;

 public:
  /// Shared memory of a block.
  struct storage {
    std::uint32_t ids[Tile::operations];  ///< by position
    typename sort::storage sorting;       ///< memory for sorting words
    typename combine::storage combining;  ///< memory for combining sorted operations
  };

  /// Runs the operations from `first` on that fit a tile. Collective over the block; may be called
  /// again at once.
  WARDEN_DEVICE static void run(atomics_combined_arguments<Work> const& a, storage& shared,
                                std::uint32_t first) {
    constexpr std::uint32_t items = Tile::items;
    std::uint32_t const me = simt::thread_rank();
    std::uint32_t const count =
        a.work.n - first < Tile::operations ? a.work.n - first : Tile::operations;
    // A word is bucket and position. Words without an operation have a bit more, so they come last.
    std::uint32_t ids[items];
    sorted_words sorted;
    WARDEN_UNROLL
    for (std::uint32_t j = 0; j < items; ++j) {
      std::uint32_t const position = j * Tile::threads + me;
      ids[j] = position < count ? a.work.ids[first + position] : 0;
    }
    WARDEN_UNROLL
    for (std::uint32_t j = 0; j < items; ++j) {
      std::uint32_t const position = j * Tile::threads + me;
      sorted.words[j] = ~0u;
      if (position < count) {
        shared.ids[position] = ids[j];
        sorted.words[j] = a.buckets(ids[j]) << Tile::position_bits | position;
      }
    }
    simt::sync_block();
    unsigned const bits = a.buckets.bits + (count < Tile::operations ? 1 : 0);
    if (bits != 0) {
      sort::sort(shared.sorting, sorted.words, Tile::position_bits, Tile::position_bits + bits);
    }
    std::uint32_t const begin = me * items;
    sorted.count = count <= begin ? 0 : count - begin < items ? count - begin : items;
    combine::run(shared.combining, sorted, operations{a.work, shared, first});
  }

 private:
  /// A thread's share of the sorted words. See block_combine.
  struct sorted_words {
    static constexpr bool in_registers = true;
    static constexpr std::uint32_t most = Tile::items;
    std::uint32_t words[most];
    std::uint32_t count;

    WARDEN_DEVICE std::uint32_t operator()(std::uint32_t j) const {
      return words[j] & (Tile::operations - 1);
    }
  };
  /// Operations of the tile, by position. See block_combine.
  struct operations {
    static constexpr bool store = false;
    Work const& work;
    storage& shared;
    std::uint32_t first;

    WARDEN_DEVICE detail::combining_key<section> key(std::uint32_t position) const {
      return detail::combining_key_of(shared.ids[position], section_at(position));
    }
    WARDEN_DEVICE section section_at(std::uint32_t position) const {
      return work.make(first + position);
    }
    WARDEN_DEVICE void absorbed(std::uint32_t) const {}
    WARDEN_DEVICE void combined(detail::combining_key<section> key, std::uint32_t,
                                section const& s) const {
      apply_atomically(&work.records[static_cast<std::uint32_t>(key)], s, work.context);
    }
  };
};

/// Kernel of `atomics_combined_async`. Grid: any number of blocks of the tile's threads.
template <class Work, class Tile>
WARDEN_KERNEL void WARDEN_BOUNDS(Tile::threads, 768 / Tile::threads)
    atomics_combined_kernel(atomics_combined_arguments<Work> const a) {
  simt::assume_one_dimension();
  using block = combined_atomics<Work, Tile>;
  auto& shared = *reinterpret_cast<typename block::storage*>(simt::dynamic_shared());
  std::uint32_t const tiles = a.work.n / Tile::operations + (a.work.n % Tile::operations != 0);
  for (std::uint32_t tile = simt::block_rank(); tile < tiles; tile += simt::block_count())
    block::run(a, shared, tile * Tile::operations);
}

/// Enqueues all of the work. Precondition: its ids are below `records`; the section has a member
/// `static Section combine(Section, Section)`, and a member `atomic(Record*, Context)` or a record
/// of 4 or 8 bytes. Throws cuda_error.
template <class Tile = combining_tile<256, 16>, class Work>
void atomics_combined_async(Work const& work, std::uint32_t records, stream_ref s = {}) {
  if (work.n == 0) return;
  auto const kernel = &atomics_combined_kernel<Work, Tile>;
  constexpr auto shared_bytes = sizeof(typename combined_atomics<Work, Tile>::storage);
  std::uint32_t const tiles = work.n / Tile::operations + (work.n % Tile::operations != 0);
  unsigned const blocks = std::min(tiles, full_occupancy(kernel, Tile::threads, shared_bytes));
  simt::launch(kernel, blocks, Tile::threads, shared_bytes,
               {work, detail::combining_buckets::of(records, Tile::position_bits)}, s);
}

}  // namespace baseline
WARDEN_NAMESPACE_END
