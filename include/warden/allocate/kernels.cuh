// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels of `allocate_async`.
#pragma once

#include <warden/allocate/contracts.cuh>
#include <warden/allocate/emit.cuh>
#include <warden/allocate/item_tile.cuh>
#include <warden/allocate/tile_order.cuh>
#include <warden/simt/collective.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// What all of them are given: items 0 to n - 1, of which i emits `count(i)` elements.
template <class Count, class Emit>
struct allocation {
  std::uint64_t n;              ///< items
  Count count;                  ///< as `allocate_async` is given it
  Emit emit;                    ///< what becomes of a tile that has its places
  std::uint64_t* counter;       ///< places taken, in device memory
  tile_order order;             ///< `ordered` alone
  allocation_control* control;  ///< where what went wrong is noted
};

/// Shared memory of a block that gives places to a tile.
template <class Policy, class Emit>
struct allocation_storage {
  using tile = item_tile<Policy::threads, Policy::items>;   ///< in whose hands a tile is
  typename tile::storage items;                             ///< the tile's
  typename Emit::template storage<Policy::threads> writer;  ///< the writer's
  std::uint64_t number;                                     ///< of the tile
  std::uint64_t first;                                      ///< its first place
};

/// One tile a block.
template <class Policy, class Count, class Emit>
WARDEN_KERNEL void WARDEN_BOUNDS(Policy::threads, Policy::blocks)
    allocate_tile(WARDEN_GRID_CONSTANT allocation<Count, Emit> const a) {
  using storage = allocation_storage<Policy, Emit>;
  constexpr bool in_order = std::is_same_v<typename Policy::contract, ordered>;
  auto& shared = *reinterpret_cast<storage*>(simt::dynamic_shared());
  std::uint64_t number = simt::block_rank();
  if constexpr (in_order) {
    if (simt::thread_rank() == 0) shared.number = a.order.take();
    simt::sync_block();
    number = shared.number;
  }
  typename storage::tile tile{shared.items, number * Policy::tile, a.n, a.count};
  if constexpr (in_order) {
    if (simt::warp_rank() == 0) {
      if (simt::lane_id() == 0) a.order.announce(number, tile.total());
      // Stores of the list come behind: others wait for the announcement.
      simt::sync_warp(simt::full_warp);
    }
    a.emit.prepare(tile);
    if (simt::warp_rank() == 0) {
      std::uint64_t const first = a.order.first_place(number, tile.total());
      if (simt::lane_id() == 0) shared.first = first;
    }
  } else {
    // On its way while the tile is listed.
    std::uint64_t first = 0;
    if (simt::thread_rank() == 0) first = take_places(a.counter, tile.total());
    a.emit.prepare(tile);
    if (simt::thread_rank() == 0) shared.first = first;
  }
  simt::sync_block();
  a.emit.tile(tile, shared.items, shared.writer, {number, shared.first});
}

/// Elements of a long tile that a block writes at once: several times what it counts for that.
template <class Policy, class T>
inline constexpr std::uint64_t part_of_long_tile =
    4 * (Policy::tile < element_writer<T, Policy::threads>::window
             ? element_writer<T, Policy::threads>::window
             : Policy::tile);

/// The tiles that were listed, by all blocks: each counts the tile's items again.
template <class Policy, class Count, class T, class Element>
WARDEN_KERNEL void WARDEN_BOUNDS(Policy::threads, Policy::blocks)
    write_long_tiles(WARDEN_GRID_CONSTANT allocation<Count, emit_elements<T, Element>> const a) {
  using storage = allocation_storage<Policy, emit_elements<T, Element>>;
  constexpr std::uint64_t part = part_of_long_tile<Policy, T>;
  auto& shared = *reinterpret_cast<storage*>(simt::dynamic_shared());
  std::uint64_t const tiles = a.emit.listed.size();
  std::uint64_t turn = simt::block_rank();
  for (std::uint64_t t = 0; t < tiles; ++t) {
    long_tile const its = a.emit.listed.tiles[t];
    std::uint64_t const parts = (its.elements - 1) / part + 1;
    for (; turn < parts; turn += simt::block_count()) {
      typename storage::tile tile{shared.items, its.tile * Policy::tile, a.n, a.count};
      std::uint64_t const begin = turn * part, left = its.elements - begin;
      a.emit.part(tile, shared.items, shared.writer, {its.tile, its.first}, begin,
                  static_cast<std::uint32_t>(left < part ? left : part));
      // Before the next tile is counted there.
      simt::sync_block();  // sabotage: long-tile
    }
    // The next tile's parts go on with the block whose turn it is.
    turn -= parts;
  }
}

/// The tiles of one block of several that have shares as large as possible, for reduce_then_scan.
struct tile_share {
  std::uint64_t begin;  ///< the first tile
  std::uint64_t end;    ///< behind the last one

  /// That of the calling block.
  WARDEN_DEVICE static tile_share of_block(std::uint64_t tiles) {
    std::uint64_t const blocks = simt::block_count(), block = simt::block_rank();
    return {tiles * block / blocks, tiles * (block + 1) / blocks};
  }
};

/// The elements of each block's share of the items, to `sums`.
template <class Policy, class Count>
WARDEN_KERNEL void WARDEN_BOUNDS(Policy::threads, Policy::blocks)
    sum_shares(std::uint64_t n, std::uint64_t tiles, Count count, std::uint64_t* sums) {
  using scan = simt::block_scan<Policy::threads, true, std::uint64_t>;
  tile_share const share = tile_share::of_block(tiles);
  std::uint64_t sum = 0;
  for (std::uint64_t tile = share.begin; tile < share.end; ++tile) {
    // As many loads under way as a thread has items.
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

/// Sums become first places: `counter` and those before. One block.
template <unsigned Threads>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 1)
    place_shares(std::uint64_t* sums, unsigned shares, std::uint64_t* counter) {
  using scan = simt::block_scan<Threads, true, std::uint64_t>;
  auto& shared = *reinterpret_cast<typename scan::storage*>(simt::dynamic_shared());
  std::uint64_t first = *counter;
  for (unsigned at = 0; at < shares; at += Threads) {
    unsigned const mine = at + simt::thread_rank();
    std::uint64_t total;
    std::uint64_t const before = scan::exclusive_sum(shared, mine < shares ? sums[mine] : 0, total);
    if (mine < shares) sums[mine] = first + before;
    first += total;
    simt::sync_block();  // sabotage: share-sums
  }
  if (simt::thread_rank() == 0) *counter = first;
}

/// Each block goes through its share, from its first place on.
template <class Policy, class Count, class Emit>
WARDEN_KERNEL void WARDEN_BOUNDS(Policy::threads, Policy::blocks)
    allocate_share(WARDEN_GRID_CONSTANT allocation<Count, Emit> const a, std::uint64_t tiles,
                   std::uint64_t const* firsts) {
  using storage = allocation_storage<Policy, Emit>;
  auto& shared = *reinterpret_cast<storage*>(simt::dynamic_shared());
  tile_share const share = tile_share::of_block(tiles);
  std::uint64_t first = firsts[simt::block_rank()];
  for (std::uint64_t number = share.begin; number < share.end; ++number) {
    typename storage::tile tile{shared.items, number * Policy::tile, a.n, a.count};
    a.emit.prepare(tile);
    a.emit.tile(tile, shared.items, shared.writer, {number, first});
    first += tile.total();
    // Before the next tile is counted there.
    simt::sync_block();  // sabotage: share-tile
  }
  std::uint64_t const end =
      simt::block_rank() + 1 < simt::block_count() ? firsts[simt::block_rank() + 1] : *a.counter;
  if (simt::thread_rank() == 0 && first != end)
    simt::fetch_add(&a.control->changed, std::uint64_t{1});
}

WARDEN_NAMESPACE_END
