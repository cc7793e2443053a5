// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of `allocate_async`.
#pragma once

#include <warden/detail/allocate/contracts.cuh>
#include <warden/detail/allocate/emit.cuh>
#include <warden/detail/allocate/tile_order.cuh>
#include <warden/detail/allocate/warp_items.cuh>
#include <warden/simt/collective.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Arguments of all kernels: items 0 to n - 1, of which item i emits `count(i)` elements.
template <class Count, class Emit>
struct allocation {
  std::uint64_t n;              ///< items
  Count count;                  ///< argument of `allocate_async`
  Emit emit;                    ///< output of a warp's items that have places
  std::uint64_t* counter;       ///< places taken, in device memory
  tile_order order;             ///< used by `ordered` alone
  allocation_control* control;  ///< receives errors
};

/// Sums of the warps of a block.
template <unsigned Warps>
class warp_totals {
 public:
  /// Sums of a block.
  struct sums {
    std::uint64_t before;  ///< sum of the warps before the calling one
    std::uint64_t all;     ///< sum of all warps
  };
  /// Returns the sums of the warps' totals. Collective over the block, with a barrier. Another
  /// barrier is needed before the next call.
  WARDEN_DEVICE sums add_up(std::uint64_t total) {
    if (simt::lane_id() == 0) totals_[simt::warp_rank()] = total;
    simt::sync_block();  // mutation: warp-totals
    sums result{};
    WARDEN_UNROLL
    for (unsigned warp = 0; warp < Warps; ++warp) {
      result.before += warp < simt::warp_rank() ? totals_[warp] : 0;
      result.all += totals_[warp];
    }
    return result;
  }

 private:
  std::uint64_t totals_[Warps];
};

/// Shared memory of a block that assigns places to a tile.
template <class Policy, class Emit>
struct allocation_storage {
  static constexpr unsigned warps = Policy::threads / simt::warp_size;  ///< warps of the block
  using warp_storage = typename Emit::template storage<Policy::items>;  ///< storage of one warp

  warp_storage warp_storages[warps];  ///< one for each warp
  warp_totals<warps> totals;          ///< elements of their items
  std::uint64_t number;               ///< number of the tile
  std::uint64_t first;                ///< first place of the tile
};

/// Assigns places to one tile in each block.
template <class Policy, class Count, class Emit>
WARDEN_KERNEL void WARDEN_BOUNDS(Policy::threads, Policy::blocks)
    allocate_tile(WARDEN_GRID_CONSTANT allocation<Count, Emit> const a) {
  simt::assume_one_dimension();
  using storage = allocation_storage<Policy, Emit>;
  using counted = warp_items<Policy::items>;
  constexpr bool in_order = std::is_same_v<typename Policy::contract, ordered>;
  auto& shared = *reinterpret_cast<storage*>(simt::dynamic_shared());
  std::uint64_t number = simt::block_rank();
  if constexpr (in_order) {
    if (simt::thread_rank() == 0) shared.number = a.order.take();
    simt::sync_block();
    number = shared.number;
  }
  auto& mine = shared.warp_storages[simt::warp_rank()];
  counted_items<Count> const range{number * Policy::tile + simt::warp_rank() * counted::size, a.n,
                                   a.count};
  counted items{mine.items, range.first, range.n, range.count};
  auto const sums = shared.totals.add_up(items.total());
  listed_items listed;
  if constexpr (in_order) {
    if (simt::warp_rank() == 0) {
      if (simt::lane_id() == 0) a.order.announce(number, sums.all);
      // Stores of the list come after this barrier, because other blocks wait for the announcement.
      simt::sync_warp(simt::full_warp);
    }
    listed = a.emit.prepare(mine, items, range);
    if (simt::warp_rank() == 0) {
      std::uint64_t const first = a.order.first_place(number, sums.all);
      if (simt::lane_id() == 0) shared.first = first;
    }
  } else {
    // The atomic is in progress while the items are listed.
    std::uint64_t first = 0;
    if (simt::thread_rank() == 0) first = take_places(a.counter, sums.all);
    listed = a.emit.prepare(mine, items, range);
    if (simt::thread_rank() == 0) shared.first = checked_places(a.counter, first, sums.all);
  }
  simt::sync_block();
  a.emit.write(mine, items, listed, range, shared.first + sums.before);
}

/// Writes the listed long tiles, by all warps of all blocks. Each warp counts the items again.
template <class Policy, class Count, class T, class Element>
WARDEN_KERNEL void WARDEN_BOUNDS(Policy::threads, Policy::blocks)
    write_long_tiles(WARDEN_GRID_CONSTANT allocation<Count, emit_elements<T, Element>> const a) {
  simt::assume_one_dimension();
  using emit = emit_elements<T, Element>;
  using storage = allocation_storage<Policy, emit>;
  constexpr std::uint32_t part = emit::template part<Policy::items>;
  auto& shared = *reinterpret_cast<storage*>(simt::dynamic_shared());
  auto& mine = shared.warp_storages[simt::warp_rank()];
  std::uint64_t const tiles = a.emit.long_ones.size();
  std::uint64_t turn = simt::block_rank() * storage::warps + simt::warp_rank();
  for (std::uint64_t t = 0; t < tiles; ++t) {
    long_tile const tile = a.emit.long_ones.tiles[t];
    counted_items<Count> const range{tile.item, a.n, a.count};
    std::uint64_t const parts = (tile.elements - 1) / part + 1;
    for (; turn < parts; turn += simt::block_count() * storage::warps) {
      std::uint64_t const begin = turn * part, left = tile.elements - begin;
      a.emit.write_part(mine, range, begin, static_cast<std::uint32_t>(left < part ? left : part),
                        a.emit.out.data() + tile.first + begin);
      // Needed before the next part is counted in the same memory.
      simt::sync_warp(simt::full_warp);  // mutation: long-tile
    }
    // The next tile's parts continue with the warp after the last one.
    turn -= parts;
  }
}

/// Tiles of one of several blocks, in equal shares, for reduce_then_scan.
struct tile_share {
  std::uint64_t begin;  ///< first tile
  std::uint64_t end;    ///< tile after the last one

  /// Returns the share of the calling block.
  WARDEN_DEVICE static tile_share of_block(std::uint64_t tiles) {
    std::uint64_t const blocks = simt::block_count(), block = simt::block_rank();
    return {tiles * block / blocks, tiles * (block + 1) / blocks};
  }
};

/// Writes the number of elements of each block's share of the items to `sums`.
template <class Policy, class Count>
WARDEN_KERNEL void WARDEN_BOUNDS(Policy::threads, Policy::blocks)
    sum_shares(std::uint64_t n, std::uint64_t tiles, Count count, std::uint64_t* sums) {
  simt::assume_one_dimension();
  using scan = simt::block_scan<Policy::threads, true, std::uint64_t>;
  tile_share const share = tile_share::of_block(tiles);
  std::uint64_t sum = 0;
  for (std::uint64_t tile = share.begin; tile < share.end; ++tile) {
    // As many loads in progress as a thread has items.
    WARDEN_UNROLL
    for (unsigned j = 0; j < Policy::items; ++j) {
      std::uint64_t const i = tile * Policy::tile + j * Policy::threads + simt::thread_rank();
      sum += i < n ? count(i) : 0;
    }
  }
  std::uint64_t total;
  scan::exclusive_sum(*reinterpret_cast<typename scan::storage*>(simt::dynamic_shared()), sum,
                      total);
  if (simt::thread_rank() == 0) sums[simt::block_rank()] = total;
}

/// Replaces each sum by a first place: `counter` plus the sums before. Grid: one block.
template <unsigned Threads>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 1)
    place_shares(std::uint64_t* sums, unsigned shares, std::uint64_t* counter) {
  simt::assume_one_dimension();
  using scan = simt::block_scan<Threads, true, std::uint64_t>;
  auto& shared = *reinterpret_cast<typename scan::storage*>(simt::dynamic_shared());
  std::uint64_t first = *counter;
  for (unsigned at = 0; at < shares; at += Threads) {
    unsigned const mine = at + simt::thread_rank();
    std::uint64_t total;
    std::uint64_t const before = scan::exclusive_sum(shared, mine < shares ? sums[mine] : 0, total);
    if (mine < shares) sums[mine] = first + before;
    first += total;
    simt::sync_block();  // mutation: share-sums
  }
  if (simt::thread_rank() == 0) *counter = first;
}

/// Assigns places to each block's share, from its first place on.
template <class Policy, class Count, class Emit>
WARDEN_KERNEL void WARDEN_BOUNDS(Policy::threads, Policy::blocks)
    allocate_share(WARDEN_GRID_CONSTANT allocation<Count, Emit> const a, std::uint64_t tiles,
                   std::uint64_t const* firsts) {
  simt::assume_one_dimension();
  using storage = allocation_storage<Policy, Emit>;
  using counted = warp_items<Policy::items>;
  auto& shared = *reinterpret_cast<storage*>(simt::dynamic_shared());
  auto& mine = shared.warp_storages[simt::warp_rank()];
  tile_share const share = tile_share::of_block(tiles);
  std::uint64_t first = firsts[simt::block_rank()];
  for (std::uint64_t number = share.begin; number < share.end; ++number) {
    counted_items<Count> const range{number * Policy::tile + simt::warp_rank() * counted::size, a.n,
                                     a.count};
    counted items{mine.items, range.first, range.n, range.count};
    auto const sums = shared.totals.add_up(items.total());
    listed_items const listed = a.emit.prepare(mine, items, range);
    a.emit.write(mine, items, listed, range, first + sums.before);
    first += sums.all;
    // Needed before the next tile is counted in the same memory.
    simt::sync_block();  // mutation: share-tile
  }
  std::uint64_t const end =
      simt::block_rank() + 1 < simt::block_count() ? firsts[simt::block_rank() + 1] : *a.counter;
  if (simt::thread_rank() == 0 && first != end)
    simt::fetch_add(&a.control->changed, std::uint64_t{1});
}

}  // namespace detail
WARDEN_NAMESPACE_END
